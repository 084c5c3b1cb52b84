package scaling

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"slackline/analyze/scaling"
	"slackline/cli/env"
	"slackline/cli/flags"
)

// The words for methods and aggregates, in the order of their constants.
var (
	methodWords    = []string{"evidence", "paper"}
	aggregateWords = []string{"auto", "mean", "min", "median", "q1"}
)

// MethodOptions are the flags that say how a model is chosen.
type MethodOptions struct{ method, aggregate, space string }

// AddFlags adds the flags.
func (o *MethodOptions) AddFlags(fs *pflag.FlagSet) {
	flags.AddChoice(fs, &o.method, "method", "how a model is chosen: by the weight of the evidence, or by adjusted R2 as in the paper (one "+
		"parameter)", methodWords[0], methodWords...)
	flags.AddChoice(fs, &o.aggregate, "aggregate", "how the repetitions of a point become one number; auto: as their noise asks for, the "+
		"first quartile with --method paper", aggregateWords[0], aggregateWords...)
	flags.AddChoice(fs, &o.space, "space", "search space (one parameter): around the expectation, or that of the paper's MPI study, "+
		"p^(i/4) and p^(i/3) up to p^2 without and with log p. With --method paper these are all candidates, otherwise further ones",
		scaling.SpaceAround, scaling.SpaceNames()...)
}

// Paper reports whether the method is that of the paper.
func (o *MethodOptions) Paper() bool { return o.Analysis().Method == scaling.Paper }

// Analysis returns the flags as options of the analysis.
func (o *MethodOptions) Analysis() scaling.Options {
	return scaling.Options{
		Method:    scaling.Method(slices.Index(methodWords, o.method)),
		Aggregate: scaling.Aggregate(slices.Index(aggregateWords, o.aggregate)),
		Space:     scaling.NamedSpace(o.space),
	}
}

// WarnUnused warns of flags without effect on data over these parameters.
func (o *MethodOptions) WarnUnused(a *env.Env, parameters []string) {
	if len(parameters) > 1 && o.space != scaling.SpaceAround {
		a.Warn("--space %s has no effect: the data have the parameters %s, and search spaces are of one", o.space,
			strings.Join(parameters, ", "))
	}
}
