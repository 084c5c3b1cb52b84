package mpi

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Choose finds the MPI library of a command: the one that was asked for by its name or compiler, or else the one of the
// command's programs.
func (c *Command) Choose(ctx context.Context, wanted string) (*Library, error) {
	list, err := Find(ctx)
	if err != nil {
		return nil, err
	}
	if wanted == "" {
		return c.library(list)
	}
	return Named(list, wanted)
}

// Streams are those of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Run runs the command to its end with a library preloaded and variables set in all its processes. It returns the exit
// code of the command, 128 and the number of the signal if one ended it, and how long it took; the error is that of
// starting it. If the context ends, the command is interrupted.
func (c *Command) Run(ctx context.Context, preload string, variables []Variable, s Streams) (code int, elapsed time.Duration, err error) {
	args, environment := c.with(preload, variables)
	p := exec.CommandContext(ctx, args[0], args[1:]...)
	p.Env = environment
	p.Stdin, p.Stdout, p.Stderr = s.In, s.Out, s.Err
	p.Cancel = func() error { return c.Interrupt(p.Process) }
	const patience = 10 * time.Second // of an interrupted command
	p.WaitDelay = patience
	start := time.Now()
	err = p.Run()
	elapsed = time.Since(start)
	c.EndLeft(p.ProcessState, variables)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			const killed = 128 // as shells report it
			code = killed + int(status.Signal())
		}
	case err != nil && p.ProcessState == nil:
		return 0, elapsed, err
	}
	return code, elapsed, nil
}

// EndLeft ends what a launcher has left behind on this host, as mpiexec of MPICH does if an interrupt comes before it can handle one:
// after a signal has ended it, the processes that have all these variables, which no others may have.
func (c *Command) EndLeft(how *os.ProcessState, variables []Variable) {
	if how == nil || c.Launcher == "" || len(variables) == 0 {
		return
	}
	if status, ok := how.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		endLeft(variables)
	}
}

// Interrupt asks the command to end. srun only reports what its processes do, unless it is asked twice within a second.
func (c *Command) Interrupt(p *os.Process) error {
	err := p.Signal(syscall.SIGINT)
	if c.Slurm && err == nil {
		time.Sleep(200 * time.Millisecond)
		_ = p.Signal(syscall.SIGINT) // it may have ended
	}
	return err
}
