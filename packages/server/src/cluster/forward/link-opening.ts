/** How a link is opened: a signed request on the listener between nodes that asks for another protocol. */
import { randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import type { OwnerNode } from '@trunkline/core/ports/ownership'
import { type LinkKeys, linkKeys } from './sealed-records.ts'
import { NO_ALLOWANCE, SIGNATURE, type Signer } from './signature.ts'

export const LINK_PATH = '/nodes/requests'
/**
 * The forms of links that this version speaks, best first. A node offers all that it speaks, and the other one chooses, so nodes of two
 * versions have one in common.
 */
export const LINK_PROTOCOLS: readonly string[] = ['trunkline-requests-1']
const CHANCE = 'trunkline-chance'
const NO_BODY = Buffer.alloc(0)

export interface OpenedLink {
  readonly socket: Duplex
  readonly keys: LinkKeys
  readonly early: Buffer
}

/** @throws Error if the node does not take it in time */
export function openLink(
  { nodeId, url }: OwnerNode,
  signer: Signer,
  key: Uint8Array,
  openMs: number,
  signal: AbortSignal
): Promise<OpenedLink> {
  const headers: Record<string, string> = { host: 'trunkline' }
  const vouched = { address: '', platformAllowance: NO_ALLOWANCE, body: NO_BODY }
  const opening = signer.sign(nodeId, { method: 'GET', url: LINK_PATH, headers }, vouched)
  const send = url.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const request = send(new URL(LINK_PATH, url), {
      headers: { ...headers, [SIGNATURE]: opening, connection: 'upgrade', upgrade: LINK_PROTOCOLS.join(', ') },
      agent: false,
      signal
    })
    const patience = setTimeout(() => request.destroy(new Error(`the node did not answer within ${openMs} ms`)), openMs)
    const over = (then: () => void) => {
      clearTimeout(patience)
      then()
    }
    request.on('error', cause => over(() => reject(cause)))
    request.on('response', () => request.destroy(new Error('the node takes no requests in this way')))
    request.on('upgrade', (response, socket, early) =>
      over(() => {
        const chance = response.headers[CHANCE]
        if (LINK_PROTOCOLS.includes(response.headers.upgrade ?? '') && typeof chance === 'string')
          return resolve({ socket, early, keys: linkKeys(key, opening, chance) })
        socket.destroy()
        reject(new Error('the node speaks another version'))
      })
    )
    request.end()
  })
}

/** Answers a request whose signature was verified. Null: it asks for what this version does not know. */
export function acceptLink(socket: Duplex, headers: NodeJS.Dict<string | string[]>, key: Uint8Array): LinkKeys | null {
  const opening = headers[SIGNATURE]
  const offered = String(headers.upgrade)
    .split(',')
    .map(name => name.trim())
  const chosen = LINK_PROTOCOLS.find(name => offered.includes(name))
  if (chosen === undefined || typeof opening !== 'string') return null
  const chance = randomBytes(16).toString('hex')
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${chosen}\r\n${CHANCE}: ${chance}\r\n\r\n`)
  return linkKeys(key, opening, chance)
}
