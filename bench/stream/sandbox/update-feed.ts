import { setTimeout as pause } from 'node:timers/promises'
import { sharedNow } from '../client/stamps.ts'
import type { FeedPlan } from './requests.ts'
import type { SandboxState } from './state.ts'
import type { Streams } from './streams.ts'

/** Updates made before the event loop continues. */
const AT_ONCE = 64

/** Changes the sandbox's orders: at a fixed rate, or as fast as the other end confirms them. */
export class UpdateFeed {
  readonly #state: SandboxState
  readonly #streams: Streams
  #saw = 0
  #stirred: (() => void) | null = null

  constructor(state: SandboxState, streams: Streams) {
    this.#state = state
    this.#streams = streams
  }

  saw(count: number): void {
    this.#saw = count
    this.#stirred?.()
  }

  async run({ total, logins, perSecond, windowMax }: FeedPlan): Promise<{ readonly tookMs: number }> {
    this.#saw = 0
    const started = sharedNow()
    for (let number = 0; number < total; ) {
      const dueAt = perSecond === null ? null : started + (number * 1_000) / perSecond
      const wait = dueAt === null ? 0 : dueAt - sharedNow()
      if (wait > 0.5) await pause(wait)
      else if (windowMax !== null && number - this.#saw >= windowMax) await this.#seen()
      else {
        this.#publish(number, logins, dueAt ?? sharedNow())
        number += 1
        if (number % AT_ONCE === 0) await new Promise(setImmediate)
      }
    }
    return { tookMs: sharedNow() - started }
  }

  #publish(number: number, logins: number, dueAt: number): void {
    const login = number % logins
    this.#streams.publish(login, this.#state.move(login, Math.floor(number / logins), `due ${number} ${Math.round(dueAt * 1_000)}`))
  }

  #seen(): Promise<void> {
    return new Promise(resolve => {
      this.#stirred = resolve
    })
  }
}
