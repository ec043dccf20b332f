/**
 * Key-value stores through which the ranks of a group find each other; they hold addresses and small facts, never
 * tensors. {@link io.regatta.collective.join.StoreRendezvous} uses them, and programs may. Part of the public API.
 */
package io.regatta.collective.store;
