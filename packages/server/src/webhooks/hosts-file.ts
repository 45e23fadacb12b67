// The names that the machine itself gives addresses to.
import { createReadStream } from 'node:fs'
import { isIP } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Clock } from '@trunkline/core/ports/clock'

export interface HostsFileDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** The file's text: see {@link readHosts}. */
  readonly read: () => Promise<string>
}

const PATH = '/etc/hosts'
const BYTES_MAX = 1024 * 1024
/** Names beyond it are left out. */
const NAMES_MAX = 10_000
const READ_AGAIN_MS = 10_000
const LOCALHOST = ['127.0.0.1', '::1']

/** The machine's file, or its first MiB. */
export function readHosts(): Promise<string> {
  return text(createReadStream(PATH, { end: BYTES_MAX - 1 }))
}

/** A hosts file, which is read again when it is asked after ten seconds. */
export class HostsFile {
  readonly #deps: HostsFileDeps
  #reading: Promise<ReadonlyMap<string, readonly string[]>> | null = null
  #readAt = 0

  constructor(deps: HostsFileDeps) {
    this.#deps = deps
  }

  /** Null if it does not have the name, in lower case. It has `localhost` and what ends with it in any case. It never rejects. */
  async find(name: string): Promise<readonly string[] | null> {
    const now = this.#deps.clock.monotonicMs()
    if (this.#reading === null || now - this.#readAt >= READ_AGAIN_MS) {
      this.#readAt = now
      // A file that cannot be read has no names.
      this.#reading = this.#deps.read().then(parseHosts, () => new Map())
    }
    const isLocal = name === 'localhost' || name.endsWith('.localhost')
    return (await this.#reading).get(name) ?? (isLocal ? LOCALHOST : null)
  }
}

function parseHosts(file: string): ReadonlyMap<string, readonly string[]> {
  const addresses = new Map<string, readonly string[]>()
  for (const line of file.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const name of names.map(each => each.toLowerCase())) {
      const known = addresses.get(name)
      if (known !== undefined || addresses.size < NAMES_MAX) addresses.set(name, [...(known ?? []), address])
    }
  }
  return addresses
}
