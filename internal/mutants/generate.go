package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// site is one change that a random mutant may make: the bytes from one offset of a
// file to another become text.
type site struct {
	edit
	line int
	// kind names the change in a word, what shows it.
	kind, what string
}

// sites are the changes that may be made in the bodies of a file's functions, in the
// order in which they stand. What is for people only (texts, logs) is left out, and so
// is what prints a value.
func sites(s *source, info *types.Info) []site {
	g := &generator{source: s, info: info}
	for _, decl := range s.file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil || slices.Contains(forPeople, f.Name.Name) {
			continue
		}
		ast.Inspect(f.Body, g.visit)
	}
	slices.SortStableFunc(g.found, func(a, b site) int { return cmp.Compare(a.from, b.from) })
	return g.found
}

// forPeople are methods whose results people read.
var forPeople = []string{"String", "GoString", "Error", "Format", "LogValue", "Explain"}

type generator struct {
	source *source
	info   *types.Info
	found  []site
}

func (g *generator) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return !g.isForPeople(n)
	case *ast.IfStmt:
		g.negate(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			g.stop(n.Cond)
		}
	case *ast.BinaryExpr:
		g.operator(n)
	case *ast.ExprStmt:
		g.leaveOut(n)
	case *ast.DeferStmt:
		g.leaveOut(n)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE && !blank(n.Lhs) {
			g.leaveOut(n)
		}
	case *ast.IncDecStmt:
		to := "++"
		if n.Tok == token.INC {
			to = "--"
		}
		g.replace(n.TokPos, n.End(), to, "count", n)
	case *ast.ReturnStmt:
		g.results(n)
	case *ast.BasicLit:
		if n.Kind == token.INT {
			g.replace(n.Pos(), n.End(), "("+n.Value+" + 1)", "number", n)
		}
	}
	return true
}

// isForPeople reports whether a call makes a text or a log line.
func (g *generator) isForPeople(call *ast.CallExpr) bool {
	name := ""
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok && (x.Name == "fmt" || x.Name == "slog" || x.Name == "strings" && f.Sel.Name == "Repeat") {
			return true
		}
		name = f.Sel.Name
	}
	for _, part := range []string{"panic", "New", "Errorf", "Sprintf", "Debug", "Info", "Warn", "log", "callers", "Grow", "make", "cap"} {
		if name == part {
			return true
		}
	}
	return false
}

var operators = map[token.Token][]string{
	token.LSS: {"<=", ">"}, token.LEQ: {"<", ">"}, token.GTR: {">=", "<"}, token.GEQ: {">", "<"},
	token.EQL: {"!="}, token.NEQ: {"=="}, token.LAND: {"||"}, token.LOR: {"&&"},
	token.ADD: {"-"}, token.SUB: {"+"}, token.MUL: {"+"}, token.QUO: {"*"}, token.REM: {"+"},
	token.AND: {"|"}, token.OR: {"&"}, token.AND_NOT: {"&"}, token.SHL: {">>"}, token.SHR: {"<<"},
}

func (g *generator) operator(n *ast.BinaryExpr) {
	for _, to := range operators[n.Op] {
		g.replace(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), to, "operator", n)
	}
}

func (g *generator) negate(cond ast.Expr) {
	g.replace(cond.Pos(), cond.End(), "!("+g.text(cond)+")", "condition", cond)
}

// stop has a loop end before its first round.
func (g *generator) stop(cond ast.Expr) {
	g.replace(cond.Pos(), cond.End(), "false && ("+g.text(cond)+")", "loop", cond)
}

// leaveOut keeps the statement in the text, so that what it uses stays used.
func (g *generator) leaveOut(n ast.Stmt) {
	if e, ok := n.(*ast.ExprStmt); ok {
		if call, ok := e.X.(*ast.CallExpr); ok && g.isForPeople(call) {
			return
		}
	}
	g.replace(n.Pos(), n.End(), "if false { "+g.text(n)+" }", "left out", n)
}

// results changes what a return gives: a truth value to its contrary, what may be nil
// to nil.
func (g *generator) results(n *ast.ReturnStmt) {
	for _, e := range n.Results {
		t := g.info.TypeOf(e)
		if t == nil {
			continue
		}
		text := g.text(e)
		switch u := t.Underlying().(type) {
		case *types.Basic:
			if u.Info()&types.IsBoolean != 0 {
				g.replace(e.Pos(), e.End(), "!("+text+")", "result", n)
			}
		case *types.Interface, *types.Pointer:
			if _, variable := ast.Unparen(e).(*ast.Ident); variable && text != "nil" && len(n.Results) > 0 {
				g.replace(n.Pos(), n.End(), "if _ = "+text+"; true { "+g.textBut(n, e, "nil")+" }; "+g.text(n), "nil", n)
			}
		}
	}
}

func blank(list []ast.Expr) bool {
	for _, e := range list {
		if name, ok := e.(*ast.Ident); !ok || name.Name != "_" {
			return false
		}
	}
	return true
}

func (g *generator) text(n ast.Node) string { return g.source.slice(n.Pos(), n.End()) }

// textBut is n's text with another one for a part of it.
func (g *generator) textBut(n, part ast.Node, text string) string {
	return g.source.slice(n.Pos(), part.Pos()) + text + g.source.slice(part.End(), n.End())
}

func (g *generator) replace(from, to token.Pos, text, kind string, shown ast.Node) {
	what := g.text(shown)
	if first, _, more := strings.Cut(what, "\n"); more {
		what = first + " ..."
	}
	e := edit{g.source.offset(from), g.source.offset(to), text}
	g.found = append(g.found, site{
		edit: e, line: g.source.set.Position(from).Line, kind: kind,
		what: fmt.Sprintf("%s: %s becomes %s", what, g.source.text[e.from:e.to], text),
	})
}
