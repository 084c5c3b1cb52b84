package mpi

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
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
// starting it. If the context ends, the command is interrupted, and if this process ends, the command is, too (on Linux).
func (c *Command) Run(ctx context.Context, preload string, variables []Variable, s Streams) (code int, elapsed time.Duration, err error) {
	args, environment := c.with(preload, variables)
	p := exec.CommandContext(ctx, args[0], args[1:]...)
	p.Env = environment
	p.Stdin, p.Stdout, p.Stderr = s.In, s.Out, s.Err
	p.Cancel = func() error { return c.Interrupt(p.Process) }
	if !c.own() { // it ends what it has started, and writes its results
		p.WaitDelay = 10 * time.Second
	}
	p.SysProcAttr = endWithThread()
	runtime.LockOSThread() // it waits for the command, so that it ends with this process, not before
	defer runtime.UnlockOSThread()
	start := time.Now()
	err = p.Run()
	elapsed = time.Since(start)
	c.EndLeft(p.ProcessState, ctx.Err() != nil, variables)
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

// own reports whether the command is this program, with another verb.
func (c *Command) own() bool {
	self, err := os.Executable()
	path, errPath := exec.LookPath(c.Args[0])
	return err == nil && errPath == nil && resolved(self) == resolved(path)
}

// EndLeft ends what a command has left behind on this host, after an interrupt or if a signal has ended its launcher: the processes
// that have all these variables, which no others may have. mpirun of Open MPI does so if it is interrupted twice, mpiexec of MPICH if an
// interrupt comes before it can handle one.
func (c *Command) EndLeft(how *os.ProcessState, interrupted bool, variables []Variable) {
	if how == nil || len(variables) == 0 {
		return
	}
	status, ok := how.Sys().(syscall.WaitStatus)
	if killed := c.Launcher != "" && ok && status.Signaled(); killed || interrupted {
		endLeft(variables)
	}
}

// Interrupt asks the command to end.
func (c *Command) Interrupt(p *os.Process) error {
	switch {
	case c.Kind == OpenMPI: // twice within five seconds, and it ends without its ranks: a terminal, or timeout, may have asked it already
		for start := time.Now(); time.Since(start) < 2*time.Second; time.Sleep(20 * time.Millisecond) {
			if p.Signal(syscall.Signal(0)) != nil {
				return os.ErrProcessDone
			}
		}
	case c.Slurm: // it only reports what its processes do, unless it is asked twice within a second
		if err := p.Signal(syscall.SIGINT); err != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
	return p.Signal(syscall.SIGINT) // or it has ended
}
