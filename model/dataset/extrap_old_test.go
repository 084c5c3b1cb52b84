package dataset_test

import "testing"

// oldHead are the tables that measurements refer to: parameters 1 and 2, metric 1, call path 1, coordinate 7.
const oldHead = `{"parameters":[{"id":1,"name":"p"},{"id":2,"name":"n"}],"metrics":[{"id":1,"name":"time"}],"callpaths":[{"id":1,"name":"main"}],`

func TestReadExtraPOld(t *testing.T) {
	const place = `"coordinates":[{"id":7,"parameter_value_pairs":[{"parameter_id":2,"parameter_value":100},{"parameter_id":1,"parameter_value":8}]}],`
	checkReading(t, "extrap-old", []reading{
		{name: "pairs in any order",
			input: oldHead + place + `"measurements":[{"callpath_id":1,"metric_id":1,"coordinate_id":7,"value":1}]}`,
			want:  "p n\nmain time [8 100]=[1]"},
		{name: "a missing value",
			input: oldHead + place + `"measurements":[{"callpath_id":1,"metric_id":1,"coordinate_id":7},{"callpath_id":1,"metric_id":1,"coordinate_id":7,"value":2}]}`,
			want:  "p n\nmain time [8 100]=[2]", warnings: 1},
		{name: "an unknown call path",
			input: oldHead + place + `"measurements":[{"callpath_id":2,"metric_id":1,"coordinate_id":7,"value":1}]}`,
			want:  "x:", bad: true},
		{name: "an unknown coordinate",
			input: oldHead + place + `"measurements":[{"callpath_id":1,"metric_id":1,"coordinate_id":0,"value":1}]}`,
			want:  "x:", bad: true},
		{name: "no coordinate",
			input: oldHead + place + `"measurements":[{"callpath_id":1,"metric_id":1,"value":1}]}`, want: "x:", bad: true},
		{name: "a coordinate without all parameters",
			input: oldHead + `"coordinates":[{"id":7,"parameter_value_pairs":[{"parameter_id":1,"parameter_value":8}]}],"measurements":[]}`,
			want:  "x:", bad: true},
		{name: "a coordinate with an unknown parameter",
			input: oldHead + `"coordinates":[{"id":7,"parameter_value_pairs":[{"parameter_id":3,"parameter_value":8}]}],"measurements":[]}`,
			want:  "x:", bad: true},
	})
}
