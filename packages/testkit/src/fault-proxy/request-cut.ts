// Stops a connection in the middle of a chosen request, or before its answer gets through.

/** Where the next matching request is cut. */
export interface RequestCut {
  /** Beginning of the request line, such as `POST /api/v1/orders HTTP`. */
  readonly request: string
  /** Share of the request's bytes that get through; 1 lets all of them pass. */
  readonly share: number
  /** With `share` 1: bytes of the answer that get through; null cuts at once, without waiting for one. */
  readonly answerBytes: number | null
  /** Called once, when no byte passes any more. The connection stays open. */
  readonly whenCut: () => void
}

/** What of a chunk passes, and whether nothing does after it. */
export interface Passing {
  readonly bytes: Buffer
  readonly isAll: boolean
}

/** The cut of one connection, once its request has come. */
export class CutUnderWay {
  readonly #cut: RequestCut
  #requestLeft: number
  #answerLeft: number

  /** @param head the chunk the request begins with: the client sends one request at a time. */
  constructor(cut: RequestCut, head: string) {
    this.#cut = cut
    this.#requestLeft = Math.floor(lengthOf(head) * cut.share)
    this.#answerLeft = cut.answerBytes ?? 0
  }

  fromClient(chunk: Buffer): Passing {
    const bytes = chunk.subarray(0, this.#requestLeft)
    this.#requestLeft -= bytes.length
    return { bytes, isAll: this.#requestLeft === 0 && (this.#cut.share < 1 || this.#cut.answerBytes === null) }
  }

  fromServer(chunk: Buffer): Passing {
    if (this.#cut.answerBytes === null) return { bytes: chunk, isAll: false }
    const bytes = chunk.subarray(0, this.#answerLeft)
    this.#answerLeft -= bytes.length
    return { bytes, isAll: this.#answerLeft === 0 }
  }

  done(): void {
    this.#cut.whenCut()
  }
}

/** Bytes of the whole request whose head is given. */
function lengthOf(head: string): number {
  const end = head.indexOf('\r\n\r\n')
  const body = /\r\ncontent-length: (\d+)/i.exec(head.slice(0, end))?.[1] ?? '0'
  return end + 4 + Number(body)
}
