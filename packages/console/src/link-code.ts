// The code of a login link, from the address of this page to the one who uses it.
import { codeIn } from './login-code.ts'

/** A code waits until somebody receives it. A later one replaces it. */
export class LinkCode {
  #waiting: string | null = null
  #use: ((code: string) => void) | null = null

  /** Takes a code out of the address: it must not stay there, in the history or in a copied link. */
  leaveAddress(): void {
    const code = codeIn(location.hash)
    if (code === null) return
    history.replaceState(history.state, '', `${location.pathname}${location.search}`)
    this.#waiting = code
    this.#handOver()
  }

  /** Gives the code that waits, and each later one, to `use`, until the answer is called or another receives. */
  receive(use: (code: string) => void): () => void {
    this.#use = use
    this.#handOver()
    return () => {
      if (this.#use === use) this.#use = null
    }
  }

  #handOver(): void {
    const [code, use] = [this.#waiting, this.#use]
    if (code === null || use === null) return
    this.#waiting = null
    use(code)
  }
}
