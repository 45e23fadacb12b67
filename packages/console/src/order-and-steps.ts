// An order and its steps are two reads, which can be of two revisions.
import { isSignedOut } from './api.ts'
import type { OperatorOrder, OrderSteps } from './generated/admin.ts'

export interface OrderAndSteps {
  readonly order: OperatorOrder
  /** Why the steps could not be read; the record is there without them. */
  readonly steps: OrderSteps | Error
  /** The order changed during each of the reads, so its steps may be of another revision. */
  readonly isChanging: boolean
}

/** An order that changes faster is shown as one that does. */
const READS_MAX = 3

/**
 * Reads the order before and after its steps, until both have one revision.
 * @throws what the reads of the order do, and a refusal of the steps that says that the session has ended
 */
export async function orderAndSteps(readOrder: () => Promise<OperatorOrder>, readSteps: () => Promise<OrderSteps>): Promise<OrderAndSteps> {
  let before = await readOrder()
  for (let reads = 1; ; reads++) {
    const steps = await readSteps().catch((error: unknown) => {
      if (isSignedOut(error)) throw error
      return error instanceof Error ? error : new Error(String(error))
    })
    const order = await readOrder()
    const isChanging = order.revision !== before.revision
    if (!isChanging || reads === READS_MAX) return { order, steps, isChanging }
    before = order
  }
}
