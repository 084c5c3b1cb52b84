package explore

import (
	"testing"
)

// BenchmarkFrame measures in the browser how long a frame of a timeline takes: 1,024 ranks in as many rows, over the
// full width. "paint" is what a new picture costs (colors of all cells), "frame" what every step of a zoom costs.
func BenchmarkFrame(b *testing.B) {
	s := openSite(b)
	p := s.open(b, "#timeline?run=4&arrows=0", 1920, 1300)
	w := p.window()
	if w.Last-w.First != 1024 {
		b.Fatalf("%d rows are visible, want 1024", w.Last-w.First)
	}
	var times struct{ Paint, Draw, Worst, Rows, Columns float64 }
	for b.Loop() {
		p.eval(`(async () => {
			const {decode, Picture} = await import("/timeline/raster.js");
			const {table} = await import("/timeline/legend.js");
			const canvas = document.querySelector("canvas.timeline");
			const ask = address => fetch(address, {headers: {"X-Slackline-Token": localStorage.getItem("slackline-token")}});
			const query = "run=4&color=wait";
			const raster = decode(await (await ask("/api/timeline?" + query + "&width=1836&rows=1024")).arrayBuffer());
			const colors = table(await (await ask("/api/legend?" + query)).json());
			const picture = new Picture(), rounds = 40;
			const start = performance.now();
			for (let i = 0; i < rounds; i++) picture.paint(raster, colors);
			const paint = (performance.now() - start) / rounds;
			const frames = [];
			for (let i = 0; i < rounds; i++) {
				canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: i % 2 ? 40 : -40, clientX: 900, clientY: 600, cancelable: true}));
				await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
				frames.push(Number(canvas.dataset.frame));
			}
			frames.sort((a, b) => a - b);
			return {Paint: paint, Draw: frames[rounds / 2], Worst: frames[rounds - 1], Rows: raster.rows, Columns: raster.columns};
		})()`, &times)
	}
	if times.Rows != 1024 || times.Columns < 900 {
		b.Errorf("the picture has %v rows and %v columns, want 1024 rows", times.Rows, times.Columns)
	}
	b.ReportMetric(times.Paint, "paint-ms")
	b.ReportMetric(times.Draw, "frame-ms")
	b.ReportMetric(times.Worst, "worst-frame-ms")
	b.ReportMetric(times.Columns, "columns")
}
