/**
 * Agreement of a group's members on their membership: over any store, or at the rendezvous service. Collective
 * trainers and applications use it through {@link io.regatta.collective.Rendezvous}. Part of the public API.
 */
package io.regatta.collective.join;
