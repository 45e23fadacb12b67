// Resolves the names of endpoints. Not by the system's resolver: it works in the few threads that the process has for files and for the
// names of brokers and databases, and an endpoint whose name server is silent would hold them.

import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

/** The parts of a resolver that are needed. */
export interface NameServer {
  resolve4(name: string): Promise<readonly string[]>
  resolve6(name: string): Promise<readonly string[]>
}

export interface NamesOptions {
  readonly server: NameServer
  /** The text of the hosts file. */
  readonly hosts: () => Promise<string>
  readonly monotonicMs: () => number
}

/** Of one query to one server, and how often it is made. */
const QUERY = { timeout: 1_500, tries: 2 }
/** Names that are being resolved. */
const UNDER_WAY_MAX = 64
/** The hosts file is read again after this time. */
const HOSTS_MS = 10_000
const HOSTS_BYTES_MAX = 1_048_576
const LOOPBACK = ['127.0.0.1', '::1']

interface Address {
  readonly address: string
}

/** The resolver of the machine's name servers, with queries that end. */
export function nameServer(): NameServer {
  return new Resolver(QUERY)
}

/** The machine's hosts file; empty if there is none. */
export async function hostsFile(): Promise<string> {
  const path = process.platform === 'win32' ? `${process.env.SystemRoot ?? 'C:\\Windows'}\\System32\\drivers\\etc\\hosts` : '/etc/hosts'
  try {
    return (await readFile(path, 'utf8')).slice(0, HOSTS_BYTES_MAX)
  } catch {
    return ''
  }
}

/** Names with their addresses, IPv4 first. A name that is being resolved is not asked for again. Search domains are not applied. */
export class Names {
  readonly #options: NamesOptions
  readonly #underWay = new Map<string, Promise<readonly Address[]>>()
  #hosts: { readonly at: number; readonly known: ReadonlyMap<string, readonly string[]> } | null = null

  constructor(options: NamesOptions) {
    this.#options = options
  }

  /** @throws Error: it has no address, the servers do not answer, or too many names are being resolved */
  readonly resolve = (name: string): Promise<readonly Address[]> => {
    const asked = this.#underWay.get(name)
    if (asked !== undefined) return asked
    if (this.#underWay.size >= UNDER_WAY_MAX) return Promise.reject(new Error('too many names of webhook endpoints are being resolved'))
    const found = this.#find(name).finally(() => this.#underWay.delete(name))
    this.#underWay.set(name, found)
    return found
  }

  async #find(name: string): Promise<readonly Address[]> {
    const known = (await this.#ofHosts()).get(name) ?? (name === 'localhost' ? LOOPBACK : null)
    const addresses = known ?? (await this.#ask(name))
    return addresses.map(address => ({ address }))
  }

  async #ask(name: string): Promise<readonly string[]> {
    const { server } = this.#options
    const [four, six] = await Promise.allSettled([server.resolve4(name), server.resolve6(name)])
    const found = [four, six].flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
    if (found.length === 0 && four.status === 'rejected') throw four.reason
    return found
  }

  async #ofHosts(): Promise<ReadonlyMap<string, readonly string[]>> {
    const now = this.#options.monotonicMs()
    if (this.#hosts === null || now - this.#hosts.at > HOSTS_MS) this.#hosts = { at: now, known: hostsIn(await this.#options.hosts()) }
    return this.#hosts.known
  }
}

function hostsIn(text: string): ReadonlyMap<string, readonly string[]> {
  const known = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*$/, '').trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const name of names) known.set(name.toLowerCase(), [...(known.get(name.toLowerCase()) ?? []), address])
  }
  return known
}
