/* The data folder that a command is given. */
#ifndef VD_CMD_DATA_FOLDER_H
#define VD_CMD_DATA_FOLDER_H

#include "base/error.h"

/* VD_OK when the folder exists. */
int vd_data_folder_exists(const char *folder, struct vd_error *error) VD_MUST_USE;

/* VD_OK when the folder exists and has a log; else a sentence that says which is
 * missing and what to do. */
int vd_data_folder_check(const char *folder, struct vd_error *error) VD_MUST_USE;

#endif
