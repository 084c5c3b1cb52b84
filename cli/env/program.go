package env

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/exit"
	"slackline/cli/flags"
)

// TakesCommand lets a verb take the command of an MPI program. The command may be missing only where it is not needed.
func TakesCommand(c *cobra.Command, needed func() bool) {
	c.Annotations = flags.Arguments("COMMAND",
		"the command that runs the program, with its launcher (mpirun, mpiexec, srun) and all arguments")
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 && needed() {
			return flags.ExactArgs("COMMAND")(c, args)
		}
		if len(args) > 1 && filepath.Base(args[0]) == c.Root().Name() && !runs(c.Name(), args[1]) {
			return exit.Usagef("%s cannot run %s; a program is recorded under injection by 'inject FLAGS -- slackline record FLAGS -- COMMAND'",
				c.Name(), args[1])
		}
		return nil
	}
	c.Flags().SetInterspersed(false) // what follows the program belongs to it
}

// runs reports whether a verb that takes the MPI calls of a program may run another verb: the recorder is in front of what injects.
func runs(verb, other string) bool {
	return !slices.Contains([]string{"record", "inject"}, other) || verb == "inject" && other == "record"
}

// AddProgramMPI adds the flag that names the MPI of a program.
func AddProgramMPI(fs *pflag.FlagSet, name *string) {
	fs.StringVar(name, "mpi", "", "`name` or compiler of the MPI, if the program does not show it, e.g. openmpi or mpicc.mpich")
}

// EndAsProgram ends a verb as the program ended that it ran. What else failed is reported; it is the error only of a verb
// whose program ended well or was interrupted.
func (a *Env) EndAsProgram(code int, err error) error {
	switch {
	case code == 0 || errors.Is(err, context.Canceled):
		return err
	case err != nil:
		a.Say(exit.PlainText(err))
	}
	return exit.Verdict(code)
}
