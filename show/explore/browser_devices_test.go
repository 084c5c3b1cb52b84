package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"slackline/model/unit"
)

// testDevices looks at a training run of 8 ranks: streams below their ranks, launches, and the way from an idle device to its cause.
func testDevices(t *testing.T, shared *site) {
	tl := trainingRun(t)
	s := shared.beside(t, []Source{{Name: "training", Open: func(context.Context) (*Opened, error) { return &Opened{Timeline: tl}, nil }}})
	p := s.open(t, "#timeline", 1400, 900)
	p.must(p.Wait(`document.getElementById("main").innerText.includes("The longest waits")`))
	p.settle()
	p.picture("devices")
	legend := p.text(`document.querySelector("ul.legend").innerText`)
	for _, want := range []string{"Host waits for device", "Idle device", "Stream waits for stream", "kernel", "communication kernel",
		"copy or memset"} {
		if !strings.Contains(legend, want) {
			t.Errorf("the legend does not have %q: %q", want, legend)
		}
	}
	var idle State
	var states States
	s.get(t, "states?largest=200", &states)
	for _, x := range states.States {
		if x.Metric == "device_idle" && x.Rank == slowRank && x.Amount >= slowLoad*int64(unit.Microsecond) {
			idle = x
		}
	}
	var runs Runs
	s.get(t, "runs", &runs)
	row := slices.Index(runs.Runs[0].Order, idle.Location)
	if row != slowRank*3+1 {
		t.Fatalf("the idle stream is row %d, want the first one below rank %d", row, slowRank)
	}
	w := p.window()
	p.must(p.Click(w.at((idle.At+idle.End)/2, row)))
	p.must(p.Wait(`document.querySelector("#panel h2")?.textContent === "Idle device"`))
	panel := p.text(`document.getElementById("panel").innerText`)
	for _, want := range []string{"rank 3, stream", "decode_images", "The way back to the cause"} {
		if !strings.Contains(panel, want) {
			t.Errorf("the panel of an idle device does not say %q: %q", want, panel)
		}
	}
	p.must(p.Key(".", 0)) // along the chain
	p.must(p.Wait(`location.hash.includes("at=1")`))
	p.settle()
	step := p.text(`document.querySelector("#panel [aria-current=step]").innerText`)
	if !strings.Contains(step, "decode_images") || !strings.Contains(step, "rank 3") {
		t.Errorf("the next step of the chain is %q, want decode_images on rank 3", step)
	}
	p.picture("devices-chain")
	// From a kernel to its launch and back.
	var launches Launches
	s.get(t, "launches?ranks=0", &launches)
	l := launches.Launches[1]
	p.visit(fmt.Sprintf("#timeline?sel=call:%d:%d&from=0&to=%d&ranks=0-1", l.To, l.Begin, 300*unit.Microsecond))
	p.must(p.Wait(`document.querySelector("#panel button.launch")?.textContent === "Its launch"`))
	p.settle()
	p.picture("devices-launches")
	p.must(p.ClickOn("#panel button.launch"))
	p.must(p.Wait(`document.querySelector("#panel button.launch")?.textContent === "What it launched"`))
	p.must(p.Wait(`document.querySelector("#panel h2").textContent === "cudaLaunchKernel"`))
	if !strings.Contains(p.text(`document.getElementById("panel").innerText`), "gemm_fwd") {
		t.Error("the launching call does not say what it launched")
	}
	p.must(p.ClickOn("input[name=launches]"))
	p.must(p.Wait(`location.hash.includes("launches=0")`))
	p.visit("#overview")
	text := p.text(`document.getElementById("main").innerText`)
	if !strings.Contains(text, "What the devices did") || !strings.Contains(text, "16 streams") {
		t.Errorf("the overview does not show devices: %.400q", text)
	}
	p.picture("devices-overview")
	for _, place := range []string{"#overview", "#timeline"} {
		p.must(p.Resize(400, 800))
		p.must(p.Media(map[string]string{"prefers-color-scheme": "dark"}))
		p.visit(place)
		p.fits("devices", 400)
		p.picture("devices-400-dark-" + place[1:])
	}
	p.sound()
}
