/* Code that only the start needed. */
#ifndef VD_SERVER_START_PAGES_H
#define VD_SERVER_START_PAGES_H

/* Takes the pages of code that have been touched so far out of this process's memory: most of them
 * made keys, read configuration and linked libraries. What is still needed comes back from the page
 * cache when it is called. */
void vd_start_pages_release(void);

#endif
