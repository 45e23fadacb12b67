/** Frames as they leave over chunked HTTP: those of one turn together, and cut at arbitrary bytes. */

import type { ServerResponse } from 'node:http'
import { draw, keyOf } from '../frame/brokerage.ts'
import { answerPipe, type Pipe } from '../frame/connections.ts'

export interface ChunksDeps {
  readonly response: ServerResponse
  /** Sets this stream's cuts apart from all others'. */
  readonly seed: string
  /** In 256. */
  readonly cutChance: number
  /** The last frame of a close with this code; null: none. */
  readonly closeReason: (code: number) => string | null
}

/** A chunk ends within a frame, and the next one begins there, a turn later: Node joins what is written in one turn. */
export function cutPipe({ response, seed, cutChance, closeReason }: ChunksDeps): Pipe {
  const inner = answerPipe(response)
  const key = keyOf(seed)
  let draws = 0
  let waiting = ''
  const flush = (): void => {
    if (waiting === '' || !inner.isOpen) return
    const chance = draw(key, ++draws)
    const isCut = (chance & 0xff) < cutChance && waiting.length > 1
    const end = isCut ? 1 + ((chance >>> 8) % (waiting.length - 1)) : waiting.length
    inner.send(waiting.slice(0, end))
    waiting = waiting.slice(end)
    if (waiting !== '') setImmediate(flush)
  }
  return {
    get isOpen() {
      return inner.isOpen
    },
    get waiting() {
      return inner.waiting + waiting.length
    },
    send: frame => {
      if (waiting === '') setImmediate(flush)
      waiting += frame
    },
    close: (code, reason) => {
      const rest = waiting + (closeReason(code) ?? '')
      waiting = ''
      if (rest !== '' && inner.isOpen) inner.send(rest)
      inner.close(code, reason)
    },
    cut: () => inner.cut()
  }
}
