// The answer to `status`, as a table.
import type { Health } from './backends.ts'
import type { Status } from './supervisor.ts'

export interface Traffic {
  healthOf(name: string): Health
  connectionsOf(name: string): number
}

/** @param nodes the names of the nodes, which the balancer serves */
export function statusTable(statuses: readonly Status[], nodes: ReadonlySet<string>, traffic: Traffic): string {
  const rows = statuses.map(({ program: { name, title, address }, state, pid }) => [
    title,
    state,
    pid === null ? '' : String(pid),
    address,
    nodes.has(name) ? `${traffic.healthOf(name)}, ${traffic.connectionsOf(name)} connections` : ''
  ])
  const lines = [['', 'state', 'process', 'address', 'at the balancer'], ...rows]
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0))) ?? []
  return lines
    .map(line =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()
    )
    .join('\n')
}
