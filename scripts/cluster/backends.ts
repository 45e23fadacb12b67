// Which nodes the balancer may use: each is asked for `/readyz` several times a second.
import { request } from 'node:http'

export interface Backend {
  readonly name: string
  readonly host: string
  readonly port: number
}

/**
 * ready: takes new connections. unready: takes no new ones, and those that it has stay: a node that is being drained refuses connections
 * too, and the system closes those of one that has ended. silent: accepts connections and does not answer, so it closes none by itself.
 */
export type Health = 'ready' | 'unready' | 'silent'
type Answer = 'ready' | 'unready' | 'late'

export interface HealthTiming {
  readonly everyMs: number
  /** How long an answer may take. */
  readonly answerMs: number
  /** After this many late answers in a row a node is silent. */
  readonly lateMax: number
}

/** A paused node is noticed within 3.5 s, and one on a busy machine is not mistaken for one. */
export const HEALTH_TIMING: HealthTiming = { everyMs: 200, answerMs: 1_500, lateMax: 2 }

interface Watched {
  readonly backend: Backend
  health: Health
  late: number
}

export class Backends {
  readonly #watched: readonly Watched[]
  readonly #timing: HealthTiming
  readonly #changed: (name: string, health: Health) => void
  readonly #abort = new AbortController()
  #next = 0

  /** `changed` is called after each change of a node's health. */
  constructor(backends: readonly Backend[], changed: (name: string, health: Health) => void, timing = HEALTH_TIMING) {
    this.#watched = backends.map(backend => ({ backend, health: 'unready', late: 0 }))
    this.#changed = changed
    this.#timing = timing
  }

  start(): void {
    for (const watched of this.#watched) void this.#watch(watched)
  }

  stop(): void {
    this.#abort.abort()
  }

  healthOf(name: string): Health {
    return this.#watched.find(({ backend }) => backend.name === name)?.health ?? 'unready'
  }

  /** Its process has ended: it is not ready until it has been asked again. */
  ended(name: string): void {
    const watched = this.#watched.find(({ backend }) => backend.name === name)
    if (watched !== undefined) watched.health = 'unready'
  }

  /** The ready nodes, each once, beginning with the next one: a caller that cannot connect to the first tries the second. */
  candidates(): readonly Backend[] {
    const ready = this.#watched.filter(({ health }) => health === 'ready').map(({ backend }) => backend)
    if (ready.length === 0) return []
    this.#next = (this.#next + 1) % ready.length
    return [...ready.slice(this.#next), ...ready.slice(0, this.#next)]
  }

  async #watch(watched: Watched): Promise<void> {
    while (!this.#abort.signal.aborted) {
      const answer = await ask(watched.backend, this.#timing.answerMs)
      if (this.#abort.signal.aborted) return
      watched.late = answer === 'late' ? watched.late + 1 : 0
      const health = this.#healthAfter(answer, watched)
      if (health !== watched.health) {
        watched.health = health
        this.#changed(watched.backend.name, health)
      }
      await sleep(this.#timing.everyMs, this.#abort.signal)
    }
  }

  #healthAfter(answer: Answer, { late }: Watched): Health {
    if (answer !== 'late') return answer
    return late >= this.#timing.lateMax ? 'silent' : 'unready'
  }
}

function ask({ host, port }: Backend, answerMs: number): Promise<Answer> {
  return new Promise(resolve => {
    const asked = request({ host, port, path: '/readyz', agent: false, timeout: answerMs }, response => {
      response.resume()
      resolve(response.statusCode === 200 ? 'ready' : 'unready')
    })
    const patience = setTimeout(() => {
      resolve('late')
      asked.destroy()
    }, answerMs)
    asked.once('close', () => clearTimeout(patience))
    asked.once('error', () => resolve('unready'))
    asked.end()
  })
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(done, ms)
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}
