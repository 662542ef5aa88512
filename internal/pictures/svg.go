package main

import (
	"fmt"
	"html"
	"strings"
)

// canvas collects the elements of one picture. Coordinates are pixels from the top
// left corner.
type canvas struct {
	width, height int
	title         string
	b             strings.Builder
}

// The looks: what is drawn is named by class, so that one style sheet serves a light
// page and a dark one.
const style = `<style>
text{font-family:-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;font-size:14px;fill:#1f2328}
.name{font-weight:600;font-size:15px}
.small{font-size:12px;fill:#59636e}
.box{fill:#f6f8fa;stroke:#59636e;stroke-width:1.2}
.main{fill:#ddf4ff;stroke:#0969da;stroke-width:1.2}
.line{stroke:#59636e;stroke-width:1.2;fill:none}
.wait{stroke:#59636e;stroke-width:1.6;stroke-dasharray:3 5;fill:none}
.one{fill:#ddf4ff;stroke:#0969da;stroke-width:1.2}
.two{fill:#dafbe1;stroke:#1a7f37;stroke-width:1.2}
.off{fill:#eaeef2;stroke:#59636e;stroke-width:1.2;stroke-dasharray:4 3}
.good{fill:#1a7f37}
.bad{fill:#cf222e}
@media (prefers-color-scheme:dark){
text{fill:#f0f6fc}
.small{fill:#9198a1}
.box{fill:#151b23;stroke:#9198a1}
.main,.one{fill:#12263f;stroke:#4493f8}
.line,.wait{stroke:#9198a1}
.two{fill:#12301b;stroke:#3fb950}
.off{fill:#212830;stroke:#9198a1}
.good{fill:#3fb950}
.bad{fill:#f85149}
}
</style>
`

func newCanvas(width, height int, title string) *canvas {
	return &canvas{width: width, height: height, title: title}
}

func (c *canvas) add(format string, args ...any) { fmt.Fprintf(&c.b, format+"\n", args...) }

func (c *canvas) rect(class string, x, y, width, height int) {
	c.add(`<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="6"/>`, class, x, y, width, height)
}

func (c *canvas) line(class string, x1, y1, x2, y2 int) {
	c.add(`<path class="%s" d="M%d %dL%d %d"/>`, class, x1, y1, x2, y2)
}

// arrow is a line with a head at its second end; it is horizontal or vertical.
func (c *canvas) arrow(x1, y1, x2, y2 int) {
	c.line("line", x1, y1, x2, y2)
	switch {
	case x2 > x1:
		c.add(`<path class="line" d="M%d %dl-6 -4M%d %dl-6 4"/>`, x2, y2, x2, y2)
	case x2 < x1:
		c.add(`<path class="line" d="M%d %dl6 -4M%d %dl6 4"/>`, x2, y2, x2, y2)
	default:
		c.add(`<path class="line" d="M%d %dl-4 -6M%d %dl4 -6"/>`, x2, y2, x2, y2)
	}
}

// text begins at x with its base line at y.
func (c *canvas) text(class string, x, y int, text string) {
	c.add(`<text class="%s" x="%d" y="%d">%s</text>`, class, x, y, html.EscapeString(text))
}

// center has its middle at x.
func (c *canvas) center(class string, x, y int, text string) {
	c.add(`<text class="%s" x="%d" y="%d" text-anchor="middle">%s</text>`, class, x, y, html.EscapeString(text))
}

func (c *canvas) dot(class string, x, y int) {
	c.add(`<circle class="%s" cx="%d" cy="%d" r="5"/>`, class, x, y)
}

func (c *canvas) svg() string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`,
		c.width, c.height, c.width, c.height, html.EscapeString(c.title)) + "\n" + style + c.b.String() + "</svg>\n"
}
