package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Plot is a chart of costs against sizes, both on logarithmic axes.
type Plot struct {
	File, Title    string
	XLabel, YLabel string
	Lines          []Line
}

// Line is one subject's points.
type Line struct {
	Name string
	// Dashed lines are references'.
	Dashed bool
	X, Y   []float64
}

const (
	plotWidth, plotHeight    = 760.0, 420.0
	left, right, top, bottom = 70.0, 250.0, 40.0, 50.0
	innerWidth, innerHeight  = plotWidth - left - right, plotHeight - top - bottom
	plotFont                 = `font-family="system-ui, sans-serif" font-size="12"`
)

// palette is by Okabe and Ito: told apart by people who do not see all colours.
var palette = []string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"}

// decades are the whole powers of ten around the values.
func decades(values []float64) (low, high int) {
	s := spreadOf(values)
	low, high = int(math.Floor(math.Log10(s.Low))), int(math.Ceil(math.Log10(s.High)))
	return low, max(high, low+1)
}

// svg draws the plot.
func (p Plot) svg() string {
	var xs, ys []float64
	for _, l := range p.Lines {
		xs, ys = append(xs, l.X...), append(ys, l.Y...)
	}
	x0, x1 := decades(xs)
	y0, y1 := decades(ys)
	px := func(x float64) float64 {
		return left + innerWidth*(math.Log10(x)-float64(x0))/float64(x1-x0)
	}
	py := func(y float64) float64 {
		return top + innerHeight - innerHeight*(math.Log10(y)-float64(y0))/float64(y1-y0)
	}
	var b strings.Builder
	text := func(x, y float64, anchor, s string) {
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(s))
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" %s>`+"\n", plotWidth, plotHeight, plotFont)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" fill="white"/>`+"\n", plotWidth, plotHeight)
	text(left, 22, "start", p.Title)
	rule := func(x1, y1, x2, y2 float64, colour string) {
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, colour)
	}
	for e := x0; e <= x1; e++ {
		x := px(math.Pow10(e))
		rule(x, top, x, top+innerHeight, "#ddd")
		text(x, top+innerHeight+18, "middle", power(e))
	}
	for e := y0; e <= y1; e++ {
		y := py(math.Pow10(e))
		rule(left, y, left+innerWidth, y, "#ddd")
		text(left-8, y+4, "end", power(e))
	}
	text(left+innerWidth/2, plotHeight-12, "middle", p.XLabel)
	fmt.Fprintf(&b, `<text transform="translate(18 %.0f) rotate(-90)" text-anchor="middle">%s</text>`+"\n", top+innerHeight/2, html.EscapeString(p.YLabel))
	for i, l := range p.Lines {
		colour, dash := palette[i%len(palette)], ""
		if l.Dashed {
			dash = ` stroke-dasharray="5 4"`
		}
		var points strings.Builder
		for k := range l.X {
			fmt.Fprintf(&points, "%.1f,%.1f ", px(l.X[k]), py(l.Y[k]))
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", px(l.X[k]), py(l.Y[k]), colour)
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", strings.TrimSpace(points.String()), colour, dash)
		y := top + 8 + 20*float64(i)
		fmt.Fprintf(&b, `<line x1="%.0f" y1="%.0f" x2="%.0f" y2="%.0f" stroke="%s" stroke-width="2"%s/>`+"\n",
			left+innerWidth+12, y, left+innerWidth+36, y, colour, dash)
		text(left+innerWidth+42, y+4, "start", l.Name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// power is a power of ten for people.
func power(e int) string {
	switch {
	case e >= 0 && e < 7:
		s := "1" + strings.Repeat("0", e)
		if e >= 3 {
			s = s[:len(s)-3] + "," + s[len(s)-3:]
		}
		if e == 6 {
			s = "1,000,000"
		}
		return s
	case e < 0 && e > -4:
		return "0." + strings.Repeat("0", -e-1) + "1"
	default:
		return fmt.Sprintf("1e%d", e)
	}
}
