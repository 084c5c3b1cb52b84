package scenario

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"slackline/cli/flags"
	"slackline/model/pattern"
)

// addTrainingFlags adds the parameters of the pattern llm alone.
func (o *ProgramOptions) addTrainingFlags(fs *pflag.FlagSet) {
	addCount(fs, &o.params.Tensor, "tensor", "llm: `ranks` of a tensor group (default: the largest divisor of the ranks that divides 8)")
	addCount(fs, &o.params.Pipeline, "pipeline",
		"llm: `number` of stages of the pipeline (default: the largest divisor of the rest that divides 4)")
	addCount(fs, &o.params.Virtual, "virtual",
		"llm: `number` of chunks of the model in a stage; more than one: the interleaved schedule (default 1)")
	addCount(fs, &o.params.Microbatches, "microbatches", "llm: `number` of microbatches of an iteration (default: the pattern's)")
	addCount(fs, &o.params.Layers, "layers", "llm: `number` of layers of a stage (default: the pattern's)")
	fs.Var(&o.gradients, "gradients", "llm: `size` of the gradients of a rank (default: the pattern's)")
	fs.BoolVar(&o.params.Overlap, "overlap", false, "llm: sum the gradients beside the last backward pass")
	flags.AddEach(fs, &o.stragglers, parseStragglers, "straggler",
		"llm: a rank whose work takes longer, `RANK:FRACTION`, e.g. 5:20%; may be given several times")
}

// parseStragglers reads the value of --straggler.
func parseStragglers(text string) (list []pattern.Straggler, err error) {
	for _, one := range strings.Split(text, ",") {
		rank, by, _ := strings.Cut(one, ":")
		number, percent := strings.CutSuffix(strings.TrimSpace(by), "%")
		r, err1 := strconv.Atoi(strings.TrimSpace(rank))
		f, err2 := strconv.ParseFloat(number, 64)
		if err1 != nil || err2 != nil || r < 0 || !(f >= 0) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("expected a rank and how much longer it takes, such as 5:20%% or 5:0.2, got %q", one)
		}
		if percent {
			f /= 100
		}
		list = append(list, pattern.Straggler{Rank: r, Slower: f})
	}
	return list, nil
}
