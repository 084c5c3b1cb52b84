package dataset

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

const hpcXMLExample = `<?xml version="1.0"?>
<!DOCTYPE HPCToolkitExperiment [
<!-- Version 2.1 -->
<!ELEMENT HPCToolkitExperiment (Header, (SecCallPathProfile|SecFlatProfile)*)>
<!ATTLIST HPCToolkitExperiment version CDATA #REQUIRED>
]>
<HPCToolkitExperiment version="2.1">
<Header n="app"><Info/></Header>
<SecCallPathProfile i="0" n="app">
<SecHeader>
  <MetricTable>
    <Metric i="2" n="CPUTIME (usec):Sum (I)" v="derived-incr" t="inclusive" partner="3">
      <MetricFormula t="combine" frm="sum($2, $2)"/>
      <Info><NV n="units" v="events"/></Info>
    </Metric>
    <Metric i="3" n="CPUTIME (usec):Sum (E)" v="derived-incr" t="exclusive" partner="2"/>
    <Metric i="4" n="CPUTIME (usec):Mean (I)" v="derived-incr" t="inclusive"/>
    <Metric i="5" n="PAPI_TOT_CYC:Sum (E)" v="derived-incr" t="exclusive"/>
  </MetricTable>
  <MetricDBTable><MetricDB i="0" n="CPUTIME (usec) (I)" t="inclusive" db-glob="*.metric-db"/></MetricDBTable>
  <ProcedureTable>
    <Procedure i="1" n="&lt;program root&gt;" f="1"/>
    <Procedure i="7" n="main"/>
    <Procedure i="8" n="solve&lt;double&gt;"/>
    <Procedure i="9" n=""/>
    <Procedure i="10" n="&lt;thread root&gt;"/>
  </ProcedureTable>
</SecHeader>
<SecCallPathProfileData>
<M n="2" v="1e+07"/><M n="4" v="2.5e+06"/>
<PF i="2" s="1" l="0" lm="2" f="3" n="1"><M n="2" v="9e+06"/>
<C i="3" s="5" l="0"><M n="2" v="9e+06"/>
<PF i="4" s="7" l="19" lm="2" f="3" n="7"><M n="2" v="9e+06"/><M n="3" v="3e+06"/>
  <S i="5" s="5" l="20"><M n="2" v="1e+06"/><M n="3" v="1e+06"/><M n="5" v="500"/></S>
  <L i="6" s="6" l="21"><M n="2" v="8e+06"/><M n="3" v="2e+06"/>
    <S i="7" s="5" l="22"><M n="2" v="2e+06"/><M n="3" v="2e+06"/></S>
    <C i="8" s="5" l="23"><M n="2" v="2e+06"/>
      <PF i="9" s="8" l="40" n="8"><M n="2" v="2e+06"/><M n="3" v="2e+06"/><S i="10" l="41"><M n="2" v="2e+06"/><M n="3" v="2e+06"/></S></PF></C>
    <C i="11" s="5" l="24"><M n="2" v="4e+06"/>
      <PF i="12" s="8" l="40" n="8"><M n="2" v="4e+06"/><M n="3" v="4e+06"/>
        <Pr i="13" s="9" a="1" n="9"><M n="2" v="4e+06"/><M n="3" v="4e+06"/><S i="14" l="5"><M n="2" v="4e+06"/><M n="3" v="4e+06"/></S></Pr>
      </PF></C>
  </L>
</PF></C></PF>
<PF i="15" s="10" n="10"><M n="2" v="1e+06"/><M n="3" v="1e+06"/><S i="16" l="0"><M n="2" v="1e+06"/><M n="3" v="1e+06"/></S></PF>
</SecCallPathProfileData>
</SecCallPathProfile>
</HPCToolkitExperiment>
`

// hpcXMLDir is a database of four threads on two ranks.
func hpcXMLDir(text string) fstest.MapFS {
	dir := fstest.MapFS{"experiment.xml": {Data: []byte(text)}, "src/app.c": {}}
	for rank := range 2 {
		for thread := range 2 {
			dir[fmt.Sprintf("1.app-%06d-%03d-a8c00270-16044%d-0.metric-db", rank, thread, rank)] = &fstest.MapFile{Data: []byte("HPCPROF")}
		}
	}
	return dir
}

func TestHPCToolkitXML(t *testing.T) {
	d, err := ReadDir("run", hpcXMLDir(hpcXMLExample), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, s := range d.Series {
		if len(s.Points) != 1 || s.Points[0].At[0] != 2 || len(s.Points[0].Values) != 1 {
			t.Errorf("%s: points %+v, want one at p = 2", s.CallPath, s.Points)
		}
		got[fmt.Sprint(s.CallPath, " ", s.Metric, " ", s.Unit)] = s.Points[0].Values[0]
	}
	want := map[string]float64{ // of a rank
		"<root> inclusive_CPUTIME s": 5, "main inclusive_CPUTIME s": 4.5, "main CPUTIME s": 1.5, "main PAPI_TOT_CYC ": 250,
		"main->solve<double> inclusive_CPUTIME s": 3, "main->solve<double> CPUTIME s": 1,
		"main->solve<double>-><unknown> inclusive_CPUTIME s": 2, "main->solve<double>-><unknown> CPUTIME s": 2,
		"<thread root> inclusive_CPUTIME s": 0.5, "<thread root> CPUTIME s": 0.5,
	}
	for key, v := range want {
		if got[key] != v {
			t.Errorf("%s = %g, want %g", key, got[key], v)
		}
	}
	if len(got) != len(want) || len(d.Parameters) != 1 || d.Parameters[0] != "p" {
		t.Errorf("%d values at %q: %v, want %d at p", len(got), d.Parameters, got, len(want))
	}
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "metrics without a sum over threads, which 'hpcprof -M sum' computes, are "+
		"left out: 1; the first is CPUTIME (usec):Mean (I)") {
		t.Errorf("warnings %q", d.Warnings)
	}
}

func TestBadHPCToolkitXML(t *testing.T) {
	for name, tc := range map[string]struct{ old, new, want string }{
		"value":     {`v="500"`, `v="5OO"`, `run/experiment.xml:34: the value of a metric: "5OO" is not a number`},
		"end":       {"</L>", "</S>", "run/experiment.xml:43: the end of S, which is not the element that is open"},
		"no sums":   {":Sum (", ":Mean (", "none of 4 metrics has a sum over threads; write the database with 'hpcprof -M sum'"},
		"no values": {"<M n=", "<N n=", "has no values of call paths"},
		"outside":   {"<SecHeader>", `<SecHeader><PF n="7"/>`, "run/experiment.xml:10: a call outside of the calls"},
		"twice":     {`<M n="3" v="1e+06"/><M n="5"`, `<M n="3" v="1e+06"/><M n="3"`, `run/experiment.xml:34: two values of the metric "3"`},
		"metric":    {`<M n="5"`, `<M n="5.5"`, `run/experiment.xml:34: a value of the metric "5.5", which is not one of the header`},
		"number":    {`<Metric i="4"`, `<Metric i="3"`, `run/experiment.xml:17: a metric has the number "3", which is another one's or none`},
		"around": {"#REQUIRED>\n]>\n<HPCToolkitExperiment version=\"2.1\">", "#REQUIRED\n]>\n<HPCToolkitExperiment version=\"2.1\">>",
			"7: a declaration among elements, or around them"},
		"text":      {`<M n="5" v="500"/>`, `8M n="5" v="500"/>`, "34: text among elements"},
		"among":     {`<M n="5" v="500"/>`, `<! n="5" v="500"/>`, "34: a declaration among elements, or around them"},
		"too large": {`v="2e+06"`, `v="1.7e+308"`, "too large to be added"},
	} {
		text := strings.ReplaceAll(hpcXMLExample, tc.old, tc.new)
		if name == "too large" {
			text = strings.NewReplacer("(usec)", "(sec)", `v="4e+06"`, `v="1.7e+308"`).Replace(text)
		}
		if _, err := ReadDir("run", hpcXMLDir(text), Options{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
	end := strings.Index(hpcXMLExample, "</HPCToolkitExperiment>")
	for n := strings.Index(hpcXMLExample, "<Header"); n < end; n += 13 {
		_, err := ReadDir("run", hpcXMLDir(hpcXMLExample[:n]), Options{})
		if err == nil || !strings.Contains(err.Error(), "the file is not complete or damaged: copy it again") {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
}

func FuzzHPCToolkitXML(f *testing.F) {
	f.Add([]byte(hpcXMLExample))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := readHPCToolkitXML("run", hpcXMLDir(string(data)))
		if err == nil && len(d.Series) == 0 {
			t.Error("neither values nor an error")
		}
	})
}
