package effect

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rivus/tether/errors"
)

// CronParseError is the failure of ParseCron, NewCron and ScheduleCron.
type CronParseError struct {
	// Message says what is wrong.
	Message string
	// Input is the part of the expression that is.
	Input string
}

func (e *CronParseError) Error() string { return fmt.Sprintf("cron: %s: %q", e.Message, e.Input) }

// Tag implements errors.Tagged.
func (*CronParseError) Tag() string { return "CronParseError" }

// MarshalJSON writes the error as TypeScript does.
func (e *CronParseError) MarshalJSON() ([]byte, error) {
	return errors.MarshalTagged(e.Tag(), struct {
		Message string `json:"message"`
		Input   string `json:"input"`
	}{e.Message, e.Input})
}

// ParseCron reads an expression of five fields (minutes, hours, days, months,
// weekdays) or six (seconds first). A field is a list, with commas, of *, a
// value or a range a-b, each with a step behind a slash if wanted; a value with
// a step goes on to the field's end. Months and weekdays have English names of
// three letters; Sunday is 0 and 7. It fails with *CronParseError.
func ParseCron(expression string, options ...CronOption) (Cron, error) {
	fields := strings.Fields(expression)
	switch len(fields) {
	case 5:
		fields = append([]string{"0"}, fields...)
	case 6:
	default:
		return Cron{}, &CronParseError{Message: "an expression has 5 or 6 fields", Input: expression}
	}
	c, err := Cron{}.configure(options)
	if err != nil {
		return Cron{}, err
	}
	starred := false
	for i, text := range fields {
		field := cronField(i)
		set, star, err := parseCronField(field, text)
		if err != nil {
			return Cron{}, err
		}
		c.fields[field] = set
		starred = starred || star && (field == cronDays || field == cronWeekdays)
	}
	c.both = starred && c.fields[cronDays] != 0 && c.fields[cronWeekdays] != 0
	return c, nil
}

// MustParseCron is ParseCron that panics, for expressions in the source
// (TypeScript: Cron.parseUnsafe).
func MustParseCron(expression string, options ...CronOption) Cron {
	c, err := ParseCron(expression, options...)
	if err != nil {
		panic(err)
	}
	return c
}

// parseCronField answers the values and whether the list begins with a star. A
// plain star first makes the field unrestricted, whatever follows.
func parseCronField(field cronField, text string) (set cronSet, star bool, err error) {
	unrestricted := false
	for i, item := range strings.Split(text, ",") {
		from, to, step, err := parseCronItem(field, item, text)
		if err != nil {
			return 0, false, err
		}
		if i == 0 && strings.HasPrefix(item, "*") {
			star, unrestricted = true, step == 1
		}
		for n := from; n <= to; n += step {
			set = set.with(field, n)
		}
	}
	if unrestricted {
		set = 0
	}
	return set, star, nil
}

func parseCronItem(field cronField, item, text string) (from, to, step int, err error) {
	r := cronRanges[field]
	refuse := func(format string, a ...any) (int, int, int, error) {
		return 0, 0, 0, &CronParseError{Message: fmt.Sprintf(format, a...), Input: text}
	}
	values, stepText, stepped := strings.Cut(item, "/")
	step = 1
	if stepped {
		n, ok := cronNumber(stepText)
		switch {
		case !ok:
			return refuse("a step must be a positive integer")
		case n < 1 || n > r.max:
			return refuse("a step must be from 1 to %d", r.max)
		}
		step = n
	}
	if values == "*" {
		return r.min, r.max, step, nil
	}
	first, last, ranged := strings.Cut(values, "-")
	bounds := []string{first}
	if ranged {
		bounds = append(bounds, last)
	}
	var n [2]int
	for i, bound := range bounds {
		var ok bool
		switch n[i], ok = cronValue(field, bound); {
		case !ok:
			return refuse("a value must be a positive integer")
		case n[i] < r.min || n[i] > r.max:
			return refuse("a value must be from %d to %d", r.min, r.max)
		}
	}
	switch {
	case ranged && n[0] > n[1]:
		return refuse("a range must not go down")
	case ranged:
		return n[0], n[1], step, nil
	case stepped:
		return n[0], r.max, step, nil
	}
	return n[0], n[0], step, nil
}

var (
	cronMonthNames   = []string{"", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	cronWeekdayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
)

func cronValue(field cronField, text string) (int, bool) {
	var names []string
	switch field {
	case cronMonths:
		names = cronMonthNames
	case cronWeekdays:
		names = cronWeekdayNames
	}
	for i, name := range names {
		if name != "" && strings.EqualFold(name, text) {
			return i, true
		}
	}
	return cronNumber(text)
}

// cronNumber reads ASCII digits. A number that no int holds is a number too,
// out of every range.
func cronNumber(text string) (int, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return math.MaxInt32, true
	}
	return n, true
}

// parseZone reads an IANA name or an offset: +hh:mm or +hhmm, with GMT before
// it or not.
func parseZone(text string) (*time.Location, bool) {
	offset := strings.TrimPrefix(text, "GMT")
	if offset == "" || offset[0] != '+' && offset[0] != '-' {
		zone, err := time.LoadLocation(text)
		return zone, err == nil
	}
	digits := offset[1:]
	if len(digits) == 5 && digits[2] == ':' {
		digits = digits[:2] + digits[3:]
	}
	n, ok := cronNumber(digits)
	if !ok || len(digits) != 4 {
		return nil, false
	}
	seconds := n/100*3600 + n%100*60
	if offset[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone(offset, seconds), true
}
