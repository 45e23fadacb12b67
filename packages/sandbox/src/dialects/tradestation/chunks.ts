/** Frames as they leave over chunked HTTP: those of one turn together, and cut where nobody would cut them. */

import type { ServerResponse } from 'node:http'
import { draw, keyOf } from '../../market/synthetic/chance.ts'
import { answerPipe, type Pipe } from '../frame/lines.ts'

export interface ChunksDeps {
  readonly response: ServerResponse
  /** Sets this stream's cuts apart from all others'. */
  readonly seed: string
  /** In 256. */
  readonly cutChance: number
  /** What a close with this code says before the answer ends; null: nothing. */
  readonly farewell: (code: number) => string | null
}

/** A chunk ends within a frame, and the next one begins there. */
export function cutPipe({ response, seed, cutChance, farewell }: ChunksDeps): Pipe {
  const inner = answerPipe(response)
  const key = keyOf(seed)
  let turns = 0
  let waiting = ''
  const flush = () => {
    const text = waiting
    waiting = ''
    if (text === '' || !inner.isOpen) return
    const chance = draw(key, ++turns)
    const at = 1 + ((chance >>> 8) % Math.max(1, text.length - 1))
    if ((chance & 0xff) >= cutChance || text.length < 2) inner.send(text)
    else for (const piece of [text.slice(0, at), text.slice(at)]) inner.send(piece)
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
      waiting += farewell(code) ?? ''
      flush()
      inner.close(code, reason)
    },
    cut: () => inner.cut()
  }
}
