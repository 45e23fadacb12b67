import type { ChainHead } from '../admin/operations.ts'
import { aligned, CommandFailed, type Common, type Console, counted, outJson } from './console.ts'
import { perform } from './operator.ts'
import { shown } from './shown.ts'

export async function verifyAudit(console: Console, { kept, json }: Common & { readonly kept?: ChainHead }): Promise<void> {
  const verdict = await perform(console, 'audit.verify', { kept: kept ?? null })
  const { entries, broken, head } = verdict
  if (json) outJson(console, verdict)
  else if (broken === null)
    console.out(
      `${counted(entries, 'entry', 'entries')}, all unaltered${kept === undefined ? '' : ', including the chain head of --kept'}.\n` +
        `The chain ends at ${head.position}:${head.hash}\nStore that line elsewhere. Passed to --kept later, it reveals whether the log was truncated or rewritten.\n`
    )
  if (broken !== null) throw new CommandFailed(1, `The audit log was tampered with at entry ${broken.position}: ${broken.why}.`)
}

export async function listAudit(console: Console, { limit, json }: Common & { readonly limit: number }): Promise<void> {
  const entries = await perform(console, 'audit.list', { limit })
  if (json) return outJson(console, entries)
  const rows = entries.map(({ position, at, actor, action, target, result, ip, detail }) => [
    position === null ? '-' : String(position),
    at.slice(0, 23).concat('Z'),
    actor,
    action,
    result,
    ip ?? '-',
    target,
    Object.entries(detail)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')
  ])
  // Parts of an entry come from outside and must be safe for a terminal.
  console.out(aligned([['#', 'at', 'actor', 'action', 'result', 'ip', 'target', 'detail'], ...rows.map(row => row.map(shown))]))
}
