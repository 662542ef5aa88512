package main

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

const effectPath = "github.com/rivus/tether/effect"

// Analyzer reports statements whose value is an effect, and goroutines that use
// the Do of the function that starts them.
var Analyzer = &analysis.Analyzer{
	Name:     "unawaited",
	Doc:      "finds effects that are built and never run, and a Do that another goroutine uses",
	URL:      "https://pkg.go.dev/github.com/rivus/tether/cmd/unawaited",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	nodes := []ast.Node{(*ast.ExprStmt)(nil), (*ast.GoStmt)(nil), (*ast.DeferStmt)(nil)}
	pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Preorder(nodes, func(n ast.Node) {
		var dropped ast.Expr
		how := "do.Await it, return it, or combine it with another"
		switch n := n.(type) {
		case *ast.ExprStmt:
			dropped = n.X
		case *ast.GoStmt:
			reportStrayDo(pass, n)
			dropped, how = n.Call, "fork it with effect.ForkChild"
		case *ast.DeferStmt:
			dropped, how = n.Call, "use Ensuring, OnExit or a finalizer of a scope"
		}
		if t := effectIn(pass.TypesInfo.TypeOf(dropped)); t != nil {
			pass.Reportf(n.Pos(), "this %s is never run: an effect is a value; %s", types.TypeString(t, packageName), how)
		}
	})
	return nil, nil
}

// reportStrayDo finds each Do that start hands to its goroutine. The Do belongs to
// the goroutine of its own function, and can not tell that another one uses it.
func reportStrayDo(pass *analysis.Pass, start *ast.GoStmt) {
	ast.Inspect(start, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := pass.TypesInfo.Uses[id].(*types.Var)
		outside := ok && (v.Pos() < start.Pos() || v.Pos() >= start.End())
		if outside && isDo(v.Type()) {
			pass.Reportf(id.Pos(), "this *effect.Do is used by another goroutine than its function's; use effect.ForkChild, or a Gen of its own that the goroutine runs")
		}
		return true
	})
}

func packageName(p *types.Package) string { return p.Name() }

// effectIn is the effect among the results that t stands for, or nil.
func effectIn(t types.Type) types.Type {
	if results, ok := t.(*types.Tuple); ok {
		for v := range results.Variables() {
			if isEffect(v.Type()) {
				return v.Type()
			}
		}
		return nil
	}
	if t != nil && isEffect(t) {
		return t
	}
	return nil
}

func isEffect(t types.Type) bool { return isNamed(t, "Effect") }

func isDo(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && isNamed(p.Elem(), "Do")
}

// isNamed tells whether t is package effect's type of that name.
func isNamed(t types.Type, want string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return false
	}
	name := named.Obj()
	return name.Name() == want && name.Pkg() != nil && name.Pkg().Path() == effectPath
}
