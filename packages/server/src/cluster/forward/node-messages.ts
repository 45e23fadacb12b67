/** Messages of nodes to each other that no client is behind: JSON, answered with a status, or with JSON. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseJson } from '@trunkline/core/domain/json'
import type { Log } from '@trunkline/core/ports/log'
import type { OwnerNode } from '@trunkline/core/ports/ownership'
import type { NodeAnswer } from './node-client.ts'
import type { NodeClients } from './node-clients.ts'
import { NO_ALLOWANCE, type Verified } from './signature.ts'

/** Receives the parsed body and gives the answer; undefined: only that it was taken. What it throws refuses the message. */
export type NodeMessageHandler = (message: unknown) => unknown

const BODY_MAX = 8 * 1024 * 1024
const ANSWER_MS = 5_000

/** Sends `message` to the node. @throws NodeFault, Error unless the node took it. */
export async function sendMessage(clients: NodeClients, node: OwnerNode, url: string, message: object): Promise<void> {
  if ((await offerMessage(clients, node, url, message)) === 'refused') throw new Error(`the node refused the message to ${url}`)
}

/** The node's answer. @throws NodeFault, Error, Malformed */
export async function askNode(clients: NodeClients, node: OwnerNode, url: string, question: object): Promise<unknown> {
  const { status, body } = await post(clients, node, url, question)
  if (status !== 200) throw new Error(`the node answered ${url} with ${status}`)
  return parseJson(body.toString('utf8'))
}

/** `refused`: the node can do nothing with the message, now or later; it may be of another version. @throws NodeFault, Error */
export async function offerMessage(clients: NodeClients, node: OwnerNode, url: string, message: object): Promise<'taken' | 'refused'> {
  const { status } = await post(clients, node, url, message)
  if (status === 204) return 'taken'
  // It cannot read the message, or does not know the path.
  if (status === 400 || status === 404) return 'refused'
  throw new Error(`the node answered ${url} with ${status}`)
}

function post(clients: NodeClients, node: OwnerNode, url: string, message: object): Promise<NodeAnswer> {
  const body = Buffer.from(JSON.stringify(message))
  const headers = { host: 'trunkline', 'content-type': 'application/json' }
  const request = { method: 'POST', url, headers, address: '', platformAllowance: NO_ALLOWANCE, body }
  return clients.send(node, request, AbortSignal.timeout(ANSWER_MS))
}

/** Reads a message that a node has signed, and answers it. */
export async function takeMessage(
  request: IncomingMessage,
  response: ServerResponse,
  passedOn: Pick<Verified, 'isBody'>,
  handle: NodeMessageHandler,
  log: Log
): Promise<void> {
  try {
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of request) {
      if (!Buffer.isBuffer(chunk)) throw new Error('no bytes')
      length += chunk.length
      if (length > BODY_MAX) throw new Error(`longer than ${BODY_MAX} bytes`)
      chunks.push(chunk)
    }
    const body = Buffer.concat(chunks, length)
    if (!passedOn.isBody(body)) throw new Error('not the body that was signed')
    const answer = await handle(parseJson(body.toString('utf8')))
    if (answer === undefined) response.writeHead(204).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  } catch (cause) {
    log.warn('a message of another node was refused', { url: request.url, cause })
    response.writeHead(400).end()
  }
}
