// Nodes as members of a cluster: leases in the database, and the division of the partitions among the nodes (decision 33).
export { LEASE_TIMING } from './lease-keeper.ts'
export { leaseThread } from './lease-thread.ts'
export { ClusterMember, LeaseLost, MEMBER_DEFAULTS, type MemberOptions } from './member.ts'
export type { LeaseTiming, MemberRow, Node } from './messages.ts'
export { SharedLease, sharedMs } from './shared-lease.ts'
