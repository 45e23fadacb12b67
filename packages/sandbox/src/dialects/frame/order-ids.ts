/** Ids of the sandbox's orders in a broker's own form; the sandbox's control API takes them too. */

export { digitsOf, internalIdOf, uuidOf } from '../../brokerage/order-ids.ts'
