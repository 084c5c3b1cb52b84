package noise_test

import (
	"fmt"

	"slackline/model/noise"
	"slackline/model/unit"
)

// A detour of 100 us every millisecond: work of 50 us that starts 20 us before the detour takes
// 150 us.
func Example() {
	profile, err := noise.Find("1000Hz:100us")
	if err != nil {
		fmt.Println(err)
		return
	}
	detours, err := profile.Detours(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	injection, err := noise.NewInjection(detours, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var hint int32
	start := int64(980 * unit.Microsecond)
	end := injection.Finish(0, start, int64(50*unit.Microsecond), &hint)
	fmt.Println(unit.Duration(end - start))
	fmt.Printf("%.1f %%\n", noise.Stats(detours).OverheadPercent)
	// Output:
	// 150us
	// 10.0 %
}

func ExampleNames() {
	fmt.Println(noise.Names())
	// Output: [altix chic chic-1ppn cnk jaguar zeptoos zeptoos-1ppn]
}
