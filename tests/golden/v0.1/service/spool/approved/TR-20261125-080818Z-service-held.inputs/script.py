print('ran')
