// The services of one run: started when the first file needs them, stopped at the run's end.
import type { Service, TestFile } from './files.ts'
import { type Provided, provide } from './provide.ts'
import type { Print } from './report.ts'

export class Services {
  readonly #provided = new Map<Service, Provided>()
  readonly #print: Print
  readonly #impossible: (path: string, reason: string) => void

  /** `impossible` is called for a file whose needs are not met, with the reason. */
  constructor(print: Print, impossible: (path: string, reason: string) => void) {
    this.#print = print
    this.#impossible = impossible
  }

  /** Provides what `files` need, and returns those whose needs are met. */
  async ready(files: readonly TestFile[]): Promise<readonly TestFile[]> {
    for (const need of new Set(files.flatMap(({ needs }) => [...needs]))) {
      if (!this.#provided.has(need)) this.#provided.set(need, await provide[need](text => this.#print(`  ${text}`)))
    }
    return files.filter(({ path, needs }) => {
      const missing = [...needs].map(need => this.#provided.get(need)).find(service => service !== undefined && 'reason' in service)
      if (missing === undefined || !('reason' in missing)) return true
      this.#impossible(path, missing.reason)
      return false
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const service of this.#provided.values()) if ('stop' in service) await service.stop()
    this.#provided.clear()
  }
}
