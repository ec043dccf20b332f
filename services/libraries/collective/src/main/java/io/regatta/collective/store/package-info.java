/** Key-value stores at which the ranks of a group meet; they hold addresses and small facts, never tensors. */
package io.regatta.collective.store;
