import type { KnownHealth } from '@trunkline/core/app/mirror/health-registry'
import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import type { HealthAnswer, HealthQuestion } from './health-message.ts'

/** Changes in one answer. A further question gets the next ones. */
const CHANGES_MAX = 5_000

export interface HealthAnswersDeps {
  /** What this node has found, and its count of changes. */
  readonly found: () => { readonly changes: number; readonly known: Iterable<KnownHealth> }
  /** The users that a node follows here; null: it has not said so. */
  readonly followedAt: (nodeId: NodeId) => ReadonlySet<UserKey> | null
}

/** The answer to a node about the connections of users that it follows. @throws Error if it follows none, as far as this one knows */
export function answerOf({ found, followedAt }: HealthAnswersDeps, { nodeId, after, users }: HealthQuestion): HealthAnswer {
  const followed = followedAt(nodeId)
  if (followed === null) throw new Error('the node has not sent whom it follows')
  const { changes, known } = found()
  if (after === changes && users.length === 0) return { until: changes, isCut: false, known: [] }
  const wanted = new Set(users)
  const all: KnownHealth[] = []
  const later: KnownHealth[] = []
  for (const each of known) {
    if (!followed.has(each.userKey)) continue
    if (wanted.has(each.userKey)) all.push(each)
    else if (each.change > after) later.push(each)
  }
  later.sort((a, b) => a.change - b.change)
  const reported = later.slice(0, CHANGES_MAX)
  const isCut = reported.length < later.length
  const until = isCut ? (reported.at(-1)?.change ?? after) : changes
  return { until, isCut, known: [...all, ...reported].map(({ userKey, connectionId, health }) => ({ userKey, connectionId, health })) }
}
