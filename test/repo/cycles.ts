// Cycles in a graph of imports.

/** One cycle for every knot of files that reach each other, as `a → b → a`, from its smallest name on; sorted. */
export function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const found = new Set<string>()
  const done = new Set<string>()
  for (const start of [...graph.keys()].sort()) walk(start, [])
  return [...found].sort()

  function walk(node: string, path: readonly string[]): void {
    const at = path.indexOf(node)
    if (at >= 0) {
      found.add(fromSmallest(path.slice(at)))
      return
    }
    if (done.has(node)) return
    for (const next of graph.get(node) ?? []) walk(next, [...path, node])
    done.add(node)
  }
}

function fromSmallest(cycle: readonly string[]): string {
  const smallest = cycle.indexOf([...cycle].sort()[0] ?? '')
  const turned = [...cycle.slice(smallest), ...cycle.slice(0, smallest)]
  return [...turned, turned[0]].join(' → ')
}
