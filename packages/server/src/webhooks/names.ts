// The addresses of endpoints' names. Node's usual look-up waits in the few threads that the look-ups of brokers and of the database
// need too: a platform whose names are slow would stop these. So the name servers are asked from the event loop.
import { Resolver } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import type { Clock } from '@trunkline/core/ports/clock'
import { ATTEMPT_MS } from './exchange.ts'
import type { HostsFile } from './hosts-file.ts'

export interface NamesDeps {
  readonly clock: Pick<Clock, 'alarm'>
  readonly hosts: Pick<HostsFile, 'find'>
  /** Asks the name servers: see {@link newResolver}. */
  readonly resolver: () => Pick<Resolver, 'resolve4' | 'resolve6' | 'cancel'>
  /** Whether the machine reaches IPv4 addresses: see {@link hasIpv4}. */
  readonly hasIpv4: () => boolean
}

/** Doubled at the second try: both end before the attempt does. */
const TIMEOUT_MS = 1_500
/** Names that are being resolved: as many as there are attempts at once. Beyond it a resolution fails, and the attempt is made again. */
export const RESOLUTIONS_MAX = 256

/** Asks the name servers of the machine's configuration, as it is at this moment. */
export function newResolver(): Resolver {
  return new Resolver({ timeout: TIMEOUT_MS, tries: 2 })
}

/** Whether an interface has an IPv4 address that others reach. */
export function hasIpv4(): boolean {
  return Object.values(networkInterfaces()).some(all => all?.some(({ family, internal }) => family === 'IPv4' && !internal) ?? false)
}

/** Resolves names: each once at a time, for all attempts that need it. Domains for searches are not applied. */
export class Names {
  readonly #deps: NamesDeps
  readonly #resolving = new Map<string, Promise<readonly { readonly address: string }[]>>()

  constructor(deps: NamesDeps) {
    this.#deps = deps
  }

  /** Names that are being resolved. */
  get resolving(): number {
    return this.#resolving.size
  }

  /** All addresses of a name, at least one; those of the family first that the machine reaches. @throws why there are none */
  readonly resolve = (name: string): Promise<readonly { readonly address: string }[]> => {
    const known = this.#resolving.get(name)
    if (known !== undefined) return known
    if (this.#resolving.size >= RESOLUTIONS_MAX) {
      return Promise.reject(new Error(`${RESOLUTIONS_MAX} names are being resolved already, expected fewer: the attempt is made again`))
    }
    const resolving = this.#resolve(name).finally(() => this.#resolving.delete(name))
    this.#resolving.set(name, resolving)
    return resolving
  }

  async #resolve(name: string): Promise<readonly { readonly address: string }[]> {
    const found = (await this.#deps.hosts.find(name)) ?? (await this.#asked(name))
    return found.map(address => ({ address }))
  }

  async #asked(name: string): Promise<readonly string[]> {
    const { clock, hasIpv4, resolver } = this.#deps
    // One for each name: what is cancelled is only this name's.
    const asked = resolver()
    const alarm = clock.alarm(ATTEMPT_MS, () => asked.cancel())
    try {
      const [v4, v6] = await Promise.allSettled([asked.resolve4(name), asked.resolve6(name)])
      if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason
      const [four, six] = [v4, v6].map(each => (each.status === 'fulfilled' ? each.value : []))
      return (hasIpv4() ? [four, six] : [six, four]).flatMap(each => each ?? [])
    } finally {
      alarm[Symbol.dispose]()
    }
  }
}
