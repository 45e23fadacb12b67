// What a node sends an owner: all users of it that the node's sessions follow.
import { type NodeId, parseUuid, type UserKey } from '@trunkline/core/domain/ids'
import { Malformed } from '@trunkline/core/domain/malformed'

/** The path between nodes. */
export const FOLLOWED_PATH = '/nodes/followed'

export interface Followed {
  /** The node whose sessions follow the users. */
  readonly nodeId: NodeId
  readonly users: readonly UserKey[]
}

export function followedMessage({ nodeId, users }: Followed): object {
  return { node_id: nodeId, users }
}

/** @throws Malformed */
export function readFollowed(message: unknown): Followed {
  if (typeof message !== 'object' || message === null || !('node_id' in message) || !('users' in message)) {
    throw new Malformed('message', 'an object with node_id and users', message)
  }
  if (!Array.isArray(message.users)) throw new Malformed('users', 'a list', message.users)
  const users = message.users.map((userKey: unknown) => parseUuid<UserKey>(userKey, 'users'))
  return { nodeId: parseUuid<NodeId>(message.node_id, 'node_id'), users }
}
