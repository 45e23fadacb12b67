import type { Server } from 'node:http'

/** Counts the requests that have no response yet. */
export class InFlight {
  #count = 0
  #idle = Promise.withResolvers<void>()

  constructor(server: Server) {
    server.on('request', (_request, response) => {
      this.#count += 1
      response.once('close', () => {
        this.#count -= 1
        if (this.#count > 0) return
        this.#idle.resolve()
        this.#idle = Promise.withResolvers()
      })
    })
  }

  /** Resolves when every request is answered or was aborted by its client. */
  idle(): Promise<void> {
    return this.#count === 0 ? Promise.resolve() : this.#idle.promise
  }
}
