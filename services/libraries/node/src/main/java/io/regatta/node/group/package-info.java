/**
 * Groups at the rendezvous as their members see them: the own seat, {@link io.regatta.node.group.GroupMembership}, and
 * the watch on another group's members, {@link io.regatta.node.group.GroupWatch}. Services and trainers use them on
 * their own loops.
 */
package io.regatta.node.group;
