import { setTimeout as delay } from 'node:timers/promises'
import type { NodeId } from '@trunkline/core/domain/ids'
import type { Owner, Ownership } from '@trunkline/core/ports/ownership'

/** One node's view of the owner of all users, as a test sets it. */
export class ScriptedOwnership implements Ownership {
  readonly #waiting = new Set<() => void>()
  #owner: Owner = { kind: 'none' }
  /** Called when somebody begins to wait for a change. */
  onWait: () => void = () => undefined

  set(owner: Owner): void {
    this.#owner = owner
    for (const wake of [...this.#waiting]) wake()
  }

  toThis(): void {
    this.set({ kind: 'this' })
  }

  to({ nodeId, nodeUrl }: { readonly nodeId: NodeId; readonly nodeUrl: string }): void {
    this.set({ kind: 'other', node: { nodeId, url: nodeUrl } })
  }

  ownerOf(): Owner {
    return this.#owner
  }

  fenceOf(): number | null {
    return this.#owner.kind === 'this' ? 1 : null
  }

  async changed(ms: number): Promise<void> {
    const over = new AbortController()
    const changed = new Promise<void>(resolve => this.#waiting.add(resolve))
    this.onWait()
    const late = delay(ms, undefined, { signal: over.signal }).catch(() => undefined)
    await Promise.race([changed, late])
    over.abort()
  }

  listen(): () => void {
    return () => undefined
  }
}
