package record

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"slackline/internal/phrase"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/observe/counters"
)

// countersVariable is how the recorder is told what to count.
func countersVariable(list []counters.Event) string {
	var words []string
	for _, e := range list {
		kernel := "0"
		if e.Kernel {
			kernel = "1"
		}
		words = append(words, strings.Join([]string{strconv.FormatUint(uint64(e.Type), 10), strconv.FormatUint(e.Config, 10), kernel}, "."))
	}
	return strings.Join(words, "+")
}

// findMetrics defines the events that some thread has counted.
func (c *collector) findMetrics(t *trace.Trace, files []*threadFiles) {
	c.metrics = map[int]uint32{}
	for i, e := range c.counted {
		for _, f := range files {
			if i < len(f.head.counters) && f.head.counters[i] == 0 {
				c.metrics[i] = uint32(len(t.Metrics))
				t.Metrics = append(t.Metrics, timeline.Metric{Name: e.Name, Unit: e.Unit})
				break
			}
		}
	}
}

// metricsOf are the metrics that the records of a thread have values of.
func (c *collector) metricsOf(h *rawHead) []uint32 {
	var list []uint32
	for i, why := range h.counters {
		if number, ok := c.metrics[i]; ok && why == 0 {
			list = append(list, number)
		}
	}
	return list
}

// reportCounters tells what was not counted, why, and what helps.
func (r *run) reportCounters(c *Collection) {
	refused := map[syscall.Errno]map[int]int{} // threads by event
	ended := 0
	for _, h := range c.Heads {
		if h.CountingEnded {
			ended++
		}
		for i, why := range h.Counters {
			if why != 0 && i < len(r.Counters) {
				if refused[why] == nil {
					refused[why] = map[int]int{}
				}
				refused[why][i]++
			}
		}
	}
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		var names []string
		threads := 0
		for _, i := range slices.Sorted(maps.Keys(refused[why])) {
			names = append(names, r.Counters[i].Name)
			threads = max(threads, refused[why][i])
		}
		where := ""
		if threads < len(c.Heads) {
			where = " in " + phrase.Plural(threads, "thread") + " of " + strconv.Itoa(len(c.Heads))
		}
		r.Warn("--counters%s: %s", where, counters.Refusal(names, why))
	}
	if ended > 0 {
		r.Warn("--counters: counting ended early in %s: something else has taken the counters of the processor, such as perf or the "+
			"watchdog of the kernel (sysctl kernel.nmi_watchdog=0), or the program has closed them", phrase.Plural(ended, "thread"))
	}
}
