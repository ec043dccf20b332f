/** Who is in a group: the rules that all kinds of rendezvous share. */
package io.regatta.core.group;
