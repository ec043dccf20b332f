/** How the members of a group agree on who is in it: over any store, or at the rendezvous service. */
package io.regatta.collective.join;
