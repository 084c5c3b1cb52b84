package record

import (
	"embed"
	"maps"

	"slackline/observe/mpi"
)

//go:embed recorder/*.c recorder/*.h
var recorderFiles embed.FS

// Header is the text of slackline.h, by which programs mark regions of theirs.
func Header() (string, error) {
	text, err := recorderFiles.ReadFile("recorder/slackline.h")
	return string(text), err
}

// sources are the recorder with its generated wrappers.
func sources() (mpi.Source, error) {
	s := mpi.Source{
		Name: "recorder",
		// The wrappers find their caller by the frame pointer.
		Flags: []string{"-fno-omit-frame-pointer", "-Wall", "-Wextra"},
		Libs:  []string{"-ldl", "-lpthread", "-lrt"},
	}
	if err := s.Add(recorderFiles, "recorder"); err != nil {
		return s, err
	}
	if err := s.AddHeaders(); err != nil {
		return s, err
	}
	list, err := mpi.Functions()
	if err != nil {
		return s, err
	}
	s.Files["functions.h"] = functionNumbers(list)
	maps.Copy(s.Files, wrapperFiles(list))
	return s, nil
}
