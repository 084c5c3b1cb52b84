package campaign

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"slackline/internal/source"
)

// launcherLine matches what launchers, batch systems and MPI libraries print when a program ends badly; of Open MPI's messages about
// errors and signals the lines that do not say which.
var launcherLine = regexp.MustCompile(`^(=|-{20}|\[(proxy|mpiexec)[:@]|(mpirun|mpiexec|orterun|prterun|srun|slurmstepd(-\w+)?)(\.\w+)?(\[\d+\])?: |` +
	`Abort\(|(mpirun|prterun)(\.\w+)? (detected|noticed)|YOUR APPLICATION TERMINATED|` +
	`\[\S+:\d+\] (\[\[\d+,\d+\],\d+\] )?(\w+_ERROR_LOG|PMIX ERROR|\d+ more process|Set MCA parameter|\[ ?\d+\] |Signal code: |Failing at |` +
	`\*\*\* +(reported by|on communicator|MPI_ERRORS_ARE_FATAL|and potentially|Process received|End of)))`)

// rule starts and ends the boxes of Open MPI.
var rule = regexp.MustCompile(`^-{20,}$`)

// What Slurm writes when it ends a job or, for a reason such as TIME LIMIT, a step: without one, a process of the step has failed.
var (
	endedJob  = regexp.MustCompile(`^slurmstepd\S*: error: \*\*\* JOB \S+ ON \S+ CANCELLED AT `)
	endedStep = regexp.MustCompile(`^slurmstepd\S*: error: \*\*\* STEP \S+ ON \S+ CANCELLED AT \S+ DUE TO `)
)

// lastWords is why Slurm ended a program that failed, else the last line that it printed itself: on its standard error, else on its
// standard output, else what its launcher printed, or the tool that recorded it.
func lastWords(dir, tool string, command []string) string {
	stderr, stdout := endOf(filepath.Join(dir, stderrFile), 0), endOf(filepath.Join(dir, stdoutFile), 0)
	if i := slices.IndexFunc(stderr, endedStep.MatchString); i >= 0 {
		return stderr[i]
	}
	if slices.Contains(command, "record") || slices.Contains(command, "inject") {
		if others := slices.DeleteFunc(slices.Clone(stderr), func(line string) bool {
			return strings.HasPrefix(line,
				tool+": ")
		}); len(ownLines(others))+len(ownLines(stdout)) > 0 {
			stderr = others
		}
	}
	for _, lines := range [][]string{ownLines(stderr), ownLines(stdout), withoutRules(stderr)} {
		if len(lines) > 0 {
			return lines[len(lines)-1]
		}
	}
	return ""
}

// sizeOf is the size of a file; 0: there is none.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// endOf are the last lines of a file from an offset on that hold something, without blanks around them.
func endOf(path string, from int64) []string {
	f, err := source.Kept(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	const most, longest = 64 << 10, 300
	cut := false
	if info, err := f.Stat(); err == nil && info.Size()-from > most {
		from, cut = info.Size()-most, true
	}
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return nil
	}
	data := make([]byte, most)
	n, _ := f.Read(data)
	lines := strings.Split(strings.ToValidUTF8(string(data[:n]), ""), "\n")
	if cut {
		lines = lines[1:] // the rest of a line
	}
	for i, line := range lines {
		line = strings.TrimSpace(line[strings.LastIndexByte(strings.TrimRight(line, "\r"), '\r')+1:])
		if len(line) > longest {
			line = strings.ToValidUTF8(line[:longest], "") + "..."
		}
		lines[i] = line
	}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// ownLines are the lines that no launcher wrote.
func ownLines(lines []string) []string {
	var own []string
	boxed := false
	for i, line := range lines {
		if rule.MatchString(line) && (boxed || slices.ContainsFunc(lines[i+1:], rule.MatchString)) {
			boxed = !boxed
			continue
		}
		if !boxed && !launcherLine.MatchString(line) {
			own = append(own, line)
		}
	}
	return own
}

func withoutRules(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.Trim(line, "-= ") == "" })
}
