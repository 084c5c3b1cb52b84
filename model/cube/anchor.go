package cube

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// The description, anchor.xml. Names of attributes differ in case between its parts.

type anchorXML struct {
	Attributes []struct {
		Key   string `xml:"key,attr"`
		Value string `xml:"value,attr"`
	} `xml:"attr"`
	Metrics []metricXML `xml:"metrics>metric"`
	Program struct {
		Regions []struct {
			ID   string `xml:"id,attr"`
			Name string `xml:"name"`
		} `xml:"region"`
		Nodes []nodeXML `xml:"cnode"`
	} `xml:"program"`
	System systemXML `xml:"system"`
}

type metricXML struct {
	ID       string      `xml:"id,attr"`
	Kind     string      `xml:"type,attr"`
	Title    string      `xml:"disp_name"`
	Name     string      `xml:"uniq_name"`
	Type     string      `xml:"dtype"`
	Unit     string      `xml:"uom"`
	Children []metricXML `xml:"metric"`
}

type nodeXML struct {
	ID       string    `xml:"id,attr"`
	Callee   string    `xml:"calleeId,attr"`
	Children []nodeXML `xml:"cnode"`
}

// systemXML is a node of the system tree; groups and nodes may be nested, and the
// order of both kinds matters, so children are kept as they come.
type systemXML struct {
	XMLName  xml.Name
	ID       string      `xml:"Id,attr"`
	Name     string      `xml:"name"`
	Rank     string      `xml:"rank"`
	Children []systemXML `xml:",any"`
}

// maxDepth bounds how deeply the trees of a description may be nested.
const maxDepth = 5000

func (f *File) parseAnchor(text []byte) error {
	if err := checkDepth(text); err != nil {
		return err
	}
	var a anchorXML
	if err := xml.Unmarshal(text, &a); err != nil {
		return fmt.Errorf("is not the XML of a Cube file: %w", err)
	}
	for _, x := range a.Attributes {
		f.Attributes[x.Key] = x.Value
	}
	regions := map[string]string{}
	for _, r := range a.Program.Regions {
		regions[r.ID] = strings.TrimSpace(r.Name)
	}
	if err := f.addMetrics(a.Metrics, nil); err != nil {
		return err
	}
	if err := f.addNodes(a.Program.Nodes, nil, regions); err != nil {
		return err
	}
	f.addLocations(a.System.Children, 0)
	if len(f.Locations) == 0 {
		return fmt.Errorf("names no location")
	}
	return nil
}

// checkDepth walks through the tokens once, so that no tree exhausts the stack.
func checkDepth(text []byte) error {
	d := xml.NewDecoder(bytes.NewReader(text))
	for depth := 0; ; {
		token, err := d.RawToken()
		if err != nil {
			return nil // the parser says it better
		}
		switch token.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return fmt.Errorf("is nested more than %d deep", maxDepth)
			}
		case xml.EndElement:
			depth--
		}
	}
}

func (f *File) addMetrics(list []metricXML, parent *Metric) error {
	for _, x := range list {
		id, err := strconv.Atoi(x.ID)
		if err != nil || id < 0 {
			return fmt.Errorf("a metric has the number %q", x.ID)
		}
		m := &Metric{
			ID: id, Name: strings.TrimSpace(x.Name), Title: strings.TrimSpace(x.Title), Unit: strings.TrimSpace(x.Unit),
			Type: strings.ToUpper(strings.TrimSpace(x.Type)), Kind: strings.ToUpper(x.Kind), Parent: parent,
		}
		f.Metrics = append(f.Metrics, m)
		if err := f.addMetrics(x.Children, m); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) addNodes(list []nodeXML, parent *CallNode, regions map[string]string) error {
	for _, x := range list {
		id, err := strconv.Atoi(x.ID)
		region, known := regions[x.Callee]
		if err != nil || !known {
			return fmt.Errorf("the call node %q calls the region %q, which does not exist", x.ID, x.Callee)
		}
		n := &CallNode{ID: id, Region: region, Parent: parent}
		f.Nodes = append(f.Nodes, n)
		if parent != nil {
			parent.Children = append(parent.Children, n)
		}
		if err := f.addNodes(x.Children, n, regions); err != nil {
			return err
		}
	}
	return nil
}

// addLocations lists the locations depth first; rank is that of the group around them.
func (f *File) addLocations(list []systemXML, rank int) {
	for _, x := range list {
		switch x.XMLName.Local {
		case "locationgroup", "process":
			own, err := strconv.Atoi(strings.TrimSpace(x.Rank))
			if err != nil {
				own = rank
			}
			f.addLocations(x.Children, own)
		case "location", "thread":
			id, _ := strconv.Atoi(x.ID)
			f.Locations = append(f.Locations, Location{ID: id, Name: strings.TrimSpace(x.Name), Rank: rank})
		case "systemtreenode", "machine", "node":
			f.addLocations(x.Children, rank)
		}
	}
}
