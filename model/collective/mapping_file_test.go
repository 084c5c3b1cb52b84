package collective

import "testing"

// All mistakes of a mapping are reported, in the order of their lines; a rule is not called incomplete
// because of a mistake in it.
func TestReadMappingMistakes(t *testing.T) {
	_, err := ReadMapping("f", []byte("base: openmip\nscan:\n  - {use: linaer, min_ranks: x}\n  - {max_size: 2}\nscan: 5\nbcast: {}\n"))
	const want = `f:1: base: there is no mapping "openmip"; did you mean openmpi? (known: default, mpich, nccl, openmpi)
f:3: scan has no algorithm "linaer"; did you mean linear? (known: recursive-doubling, linear)
f:3: min_ranks: "x" is not a number of ranks
f:4: the rule names no algorithm; add use: recursive-doubling or another one
f:5: key scan is given twice, first in line 2; keep one of them
f:6: bcast needs a list of rules, such as [{max_size: 2KiB, use: binomial}]`
	if err == nil || err.Error() != want {
		t.Errorf("error:\n%v\nwant:\n%s", err, want)
	}
}
