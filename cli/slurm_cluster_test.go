//go:build linux

package cli_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"slackline/internal/needed"
)

// The nodes of a cluster, and the CPUs of each, whatever the machine has.
const (
	slurmNodes = 3
	slurmCPUs  = 4
)

// slurmTimeout is far more than anything here takes, also on a busy machine.
const slurmTimeout = 2 * time.Minute

// slurmCluster is a Slurm of its own. Commands find it by the variable SLURM_CONF, which is set as long as the test runs.
type slurmCluster struct {
	Dir        string // of all files of the cluster
	conf       string
	controller *exec.Cmd
	stop       func() // ends all of it, and what it has started
}

// teardown ends all processes whose environment names the cluster, and removes its directory, when its standard input ends:
// also if the test is killed.
const teardown = `read end
for turn in 1 2 3; do
	for file in /proc/[0-9]*/environ; do
		if grep -qzxF "SLURM_CONF=$1/slurm.conf" "$file" 2>/dev/null; then
			process=${file#/proc/}
			kill -9 "${process%/environ}" 2>/dev/null
		fi
	done
	rm -rf "$1" && [ $turn -gt 1 ] && exit
	sleep 0.1
done`

// startSlurm starts a cluster, which ends with the test.
func startSlurm(t *testing.T) *slurmCluster {
	t.Helper()
	needed.Full(t, "Slurm")
	for _, name := range []string{"munged", "slurmctld", "slurmd", "srun", "sbatch", "squeue", "scancel", "sinfo"} {
		needed.Tool(t, name, "of the packages slurm-wlm and munge")
	}
	dir, err := os.MkdirTemp("", "slurm-") // short: the path of a socket has at most 107 characters
	if err != nil {
		t.Fatal(err)
	}
	c := &slurmCluster{Dir: dir, conf: filepath.Join(dir, "slurm.conf")}
	guard := exec.Command("bash", "-c", teardown, "bash", dir)
	end, err := guard.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	guard.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // an interrupt of the test does not reach it
	if err := guard.Start(); err != nil {
		t.Fatal(err)
	}
	c.stop = sync.OnceFunc(func() {
		end.Close()
		_ = guard.Wait()
	})
	t.Cleanup(func() {
		if t.Failed() {
			c.log(t)
		}
		c.stop()
	})
	c.configure(t)
	t.Setenv("SLURM_CONF", c.conf)
	c.daemon(t, "munged", "--foreground", "--force", "--num-threads=2", "--key-file="+c.file("munge.key"), "--socket="+c.file("munge"),
		"--pid-file="+c.file("munged.pid"), "--log-file="+c.file("munged.log"), "--seed-file="+c.file("munge.seed"))
	c.StartController(t)
	for n := 1; n <= slurmNodes; n++ {
		c.daemon(t, "slurmd", "-D", "-N", fmt.Sprint("n", n))
	}
	c.await(t, fmt.Sprint(slurmNodes, " idle nodes"), func() bool {
		out, err := exec.Command("sinfo", "--noheader", "--Node", "--states=idle", "--format=%N").Output()
		return err == nil && bytes.Count(out, []byte("\n")) == slurmNodes
	})
	return c
}

func (c *slurmCluster) file(name string) string { return filepath.Join(c.Dir, name) }

// configure writes the files of the cluster.
func (c *slurmCluster) configure(t *testing.T) {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	who, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	port := freePorts(t, slurmNodes+1)
	var b strings.Builder
	fmt.Fprintf(&b, "ClusterName=slackline\nSlurmctldHost=%s(127.0.0.1)\nSlurmctldPort=%d\nSlurmUser=%s\nSlurmdUser=%[3]s\n", host,
		port[slurmNodes], who.Username)
	fmt.Fprintf(&b, "AuthType=auth/munge\nAuthInfo=socket=%[1]s/munge\nCredType=cred/munge\nStateSaveLocation=%[1]s/state\n", c.Dir)
	fmt.Fprintf(&b, "SlurmdSpoolDir=%[1]s/spool.%%n\nTmpFS=%[1]s/tmp.%%n\n"+
		"SlurmctldPidFile=%[1]s/slurmctld.pid\nSlurmdPidFile=%[1]s/slurmd.%%n.pid\n", c.Dir)
	fmt.Fprintf(&b, "SlurmctldLogFile=%[1]s/slurmctld.log\nSlurmdLogFile=%[1]s/slurmd.%%n.log\nMailProg=/bin/true\n", c.Dir)
	b.WriteString("ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n" +
		"AccountingStorageType=accounting_storage/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n" +
		"MpiDefault=none\nSlurmdParameters=config_overrides\nReturnToService=2\nKillWait=5\nInactiveLimit=0\n" +
		"MessageTimeout=60\nSlurmdTimeout=600\n" +
		"SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1\n")
	directories := []string{"state"}
	for n := 1; n <= slurmNodes; n++ {
		fmt.Fprintf(&b, "NodeName=n%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=%d\n", n, host, port[n-1], slurmCPUs)
		directories = append(directories, fmt.Sprint("spool.n", n), fmt.Sprint("tmp.n", n))
	}
	fmt.Fprintf(&b, "PartitionName=all Nodes=n[1-%d] Default=YES MaxTime=INFINITE State=UP\n", slurmNodes)
	for _, name := range directories {
		if err := os.Mkdir(c.file(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	key := make([]byte, 1024)
	_, _ = rand.Read(key) // never fails
	for name, data := range map[string][]byte{"slurm.conf": []byte(b.String()), "munge.key": key} {
		if err := os.WriteFile(c.file(name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// freePorts returns free ports of this machine.
func freePorts(t *testing.T, n int) (list []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		list = append(list, l.Addr().(*net.TCPAddr).Port)
	}
	return list
}

// daemon starts a program that runs until the cluster ends.
func (c *slurmCluster) daemon(t *testing.T, words ...string) *exec.Cmd {
	t.Helper()
	d := exec.Command(words[0], words[1:]...)
	output, err := os.CreateTemp(c.Dir, "output-"+words[0]+"-")
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	d.Stdout, d.Stderr = output, output
	d.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = d.Wait() }()
	return d
}

// StartController starts the controller, which goes on with the jobs that it has saved.
func (c *slurmCluster) StartController(t *testing.T) {
	t.Helper()
	c.controller = c.daemon(t, "slurmctld", "-D")
}

// StopController ends the controller, as an update does. Jobs run on. A controller that is killed instead loses what was
// submitted in the last seconds, and gives the numbers of these jobs to others.
func (c *slurmCluster) StopController(t *testing.T) {
	t.Helper()
	pid := c.controller.Process.Pid
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.await(t, "the end of the controller", func() bool { return syscall.Kill(pid, 0) != nil })
}

// Queue is what squeue prints of the jobs with these options.
func (c *slurmCluster) Queue(t *testing.T, options ...string) string {
	t.Helper()
	out, err := exec.Command("squeue", append([]string{"--noheader"}, options...)...).Output()
	if err != nil {
		t.Fatalf("squeue: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// Empty waits until no job is left.
func (c *slurmCluster) Empty(t *testing.T) {
	t.Helper()
	c.await(t, "an empty queue", func() bool { return c.Queue(t) == "" })
}

// await waits until something is so.
func (c *slurmCluster) await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for start := time.Now(); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Since(start) > slurmTimeout {
			t.Fatalf("waiting for %s: not after %s", what, slurmTimeout)
		}
	}
}

// log shows the nodes, the jobs, and the ends of the logs.
func (c *slurmCluster) log(t *testing.T) {
	for _, words := range [][]string{{"sinfo", "--Node", "--long"}, {"squeue", "--long"}} {
		out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
		t.Logf("%s: %v\n%s", words[0], err, out)
	}
	files, _ := filepath.Glob(c.file("*.log"))
	for _, path := range files {
		data, _ := os.ReadFile(path)
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		t.Logf("%s:\n%s", filepath.Base(path), strings.Join(lines[max(0, len(lines)-15):], "\n"))
	}
}
