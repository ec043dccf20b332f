/** The rules of membership in a group, which all kinds of rendezvous share. */
package io.regatta.core.group;
