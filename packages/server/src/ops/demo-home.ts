import type { Log } from '@trunkline/core/ports/log'
import type { DemoFile } from './demo-platform.ts'
import { FirstPageAccess } from './first-page-access.ts'

export interface DemoHomeDeps {
  readonly monotonicMs: () => number
  readonly newSecret: () => string
  readonly log: Log
}

/** The link that shows the demo platform in a browser. Each link works once, and the file always has the valid one. */
export class DemoHome {
  readonly access: FirstPageAccess
  readonly #file: DemoFile
  readonly #log: Log
  #origin = ''
  #notify: (link: string) => void = () => undefined

  constructor(file: DemoFile, { monotonicMs, newSecret, log }: DemoHomeDeps) {
    this.#file = file
    this.#log = log
    this.access = new FirstPageAccess({ monotonicMs, newSecret, changed: () => this.#changed() })
  }

  /** The valid link, at the service's origin. */
  linkAt(origin: string): string {
    this.#origin = origin
    return this.#link()
  }

  /** Called with the next link, once this one was used. */
  onNewLink(listener: (link: string) => void): void {
    this.#notify = listener
  }

  #link(): string {
    return `${this.#origin}/?code=${this.access.code}`
  }

  #changed(): void {
    const link = this.#link()
    try {
      const stored = this.#file.read()
      if (stored !== null) this.#file.write({ ...stored, home_url: link })
    } catch (cause) {
      this.#log.warn('the next link to the first page could not be written down; the next start makes one', { cause })
    }
    this.#notify(link)
  }
}
