// A member with its thread, in real time. Run as a program it joins, and prints what becomes of it.
import { randomUUID } from 'node:crypto'
import { type NodeId, parseUuid } from '@trunkline/core/domain/ids'
import type { Log } from '@trunkline/core/ports/log'
import {
  ClusterMember,
  LEASE_TIMING,
  type LeaseTiming,
  leaseThread,
  MEMBER_DEFAULTS,
  SharedLease,
  sharedMs
} from '../../../src/cluster/members/index.ts'
import { SystemClock } from '../../../src/ops/clock.ts'

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} }

export function realMember(
  url: string,
  timing: Partial<LeaseTiming>,
  onLost: (cause: Error) => void = () => undefined,
  onWallClock: (wallMs: number) => void = () => undefined
) {
  const nodeId = parseUuid<NodeId>(randomUUID(), 'node')
  const whole: LeaseTiming = { ...LEASE_TIMING, ...timing }
  const lease = new SharedLease()
  const member = new ClusterMember(
    { nodeId, leaseMs: whole.leaseMs, ...MEMBER_DEFAULTS, onLost },
    {
      ...{ clock: new SystemClock(), log: quiet, lease, nowMs: sharedMs, onWallClock },
      startKeeper: leaseThread(
        { url, node: { nodeId, url: `http://${nodeId}`, name: `member of a test ${process.pid}` }, timing: whole },
        lease
      )
    }
  )
  return { nodeId, member }
}

const [, program, url, leaseMs] = process.argv
if (program === import.meta.filename && url !== undefined) {
  const { member } = realMember(url, { leaseMs: Number(leaseMs), renewEveryMs: 100 }, ({ message }) => {
    process.stdout.write(`lost with ${member.ownedCount} partitions: ${message}\n`)
    process.exit(0)
  })
  member.listen({ gained: partitions => void process.stdout.write(`gained ${partitions.size}\n`), release: async () => undefined })
  await member.start()
}
