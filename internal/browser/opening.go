package browser

import "time"

// Opening is what it took to open the page that is shown.
type Opening struct {
	Load       time.Duration // from the request until everything was loaded
	FirstPaint time.Duration // until something could be read
	Busy       time.Duration // time of the page's main thread, which a busy machine hardly changes
}

// Opening measures the opening of the page that is shown; Goto has waited for it.
func (p *Page) Opening() (*Opening, error) {
	var times struct{ Load, Paint float64 } // ms
	// The first paint may come after the page was loaded.
	err := p.Eval(`new Promise(done => {
		const look = () => {
			const load = performance.getEntriesByType("navigation")[0]?.loadEventEnd ?? 0;
			const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
			if (load > 0 && paint > 0) done({Load: load, Paint: paint});
			else setTimeout(look, 5);
		};
		look();
	})`, &times)
	if err != nil {
		return nil, err
	}
	var list struct {
		Metrics []struct {
			Name  string
			Value float64 // s
		}
	}
	if err := p.call("Performance.getMetrics", nil, &list); err != nil {
		return nil, err
	}
	o := &Opening{Load: duration(times.Load / 1000), FirstPaint: duration(times.Paint / 1000)}
	for _, m := range list.Metrics {
		if m.Name == "TaskDuration" {
			o.Busy = duration(m.Value)
		}
	}
	return o, nil
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
