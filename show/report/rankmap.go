package report

import (
	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/show/figures"
	"slackline/show/plot"
)

// RankMap stands for figures.RankMaps until internal/cli uses that.
func RankMap(tl *timeline.Timeline, title string, times []unit.Duration, perRow int) plot.Map {
	return figures.RankMaps(tl, []figures.RankTimes{{Name: title, Times: times}}, perRow).Maps[0]
}
